# The unit tests of one room, with the address sanitizer: ./check --only unit/rows
say "$stage: with the address and undefined-behaviour sanitizers"
mapfile -t programs < <(find "tests/$stage" -name 'test-*.c' 2>/dev/null)
mapfile -t names < <(printf '%s\n' "${programs[@]##*/test-}" | sed 's/\.c$//')
if [ ${#programs[@]} -eq 0 ]; then
  echo "check: no unit tests in tests/$stage; its folders: $(cd tests/unit && echo */)" >&2
elif build_asan "${names[*]/#/tests/unit/test-}"; then
  meson_tests "${stage//\//-}" build-check/asan --suite unit --timeout-multiplier 4 "${names[@]}"
fi
