# The suites with the thread sanitizer.
say "thread sanitizer"
run_tsan() {
  # GLib's slices and its once-locks are invisible to the sanitizer: plain malloc, and no mutex reports for them.
  G_SLICE=always-malloc TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp report_mutex_bugs=0 history_size=4" \
    meson_tests tsan build-check/tsan --suite unit --suite fault --no-suite no-tsan --timeout-multiplier 6 --num-processes 14
}
! build_tsan || run_tsan
