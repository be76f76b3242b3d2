/**
 * The scripts that a shell loads. Each script passes the typed words to `roster __complete`, which
 * prints a line for each candidate, with a tab and a description if it has one; `:file` stands for
 * file names.
 */
export const shellScripts: Readonly<Record<string, string>> = {
  bash: `# bash completion for roster
_roster() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ":file" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _roster roster
`,
  zsh: `#compdef roster
_roster() {
  local line
  local -a candidates
  while IFS= read -r line; do
    if [[ "$line" == ":file" ]]; then
      _files
    else
      line="\${line//:/\\\\:}"
      candidates+=("\${line/$'\\t'/:}")
    fi
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#candidates )) && _describe 'roster' candidates
}
if [[ "$funcstack[1]" == "_roster" ]]; then _roster "$@"; else compdef _roster roster; fi
`,
  fish: `# fish completion for roster
function __roster_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] __complete $words[2..-1] $current 2>/dev/null)
    if test "$line" = ":file"
      __fish_complete_path $current
    else
      echo $line
    end
  end
end
complete -c roster -f -a '(__roster_complete)'
`,
};
