#compdef tidemark
# Completion of tidemark for zsh: the program itself knows what may stand next.
local line
local -a whole opened
for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
  case $line in
    '') ;;
    *=$'\t'*) opened+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    *) whole+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
  esac
done
if (( ${#whole} + ${#opened} )); then
  _describe -t values tidemark whole -- opened -S ''
else
  _default
fi
