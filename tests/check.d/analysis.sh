# Static analysis of the program's own sources.
say "analysis: clang's analyser, GCC's and cppcheck"
! build_asan || /usr/bin/python3 tests/analysis/analyse.py build-check/asan --counts "$results/analysis"
