# Completion of tidemark for bash: the program itself knows what may stand next.
_tidemark() {
  local line=${COMP_LINE:0:COMP_POINT} words word before candidate
  read -ra words <<<"$line"
  [[ $line != *[[:blank:]] ]] || words+=("")
  # Bash completes only what is behind the last '=' or ':' of a word.
  word=${words[-1]}
  before=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("${candidate#"$before"}")
  done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o default -F _tidemark tidemark
