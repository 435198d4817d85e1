export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

// Each asks `pawl __complete` with the words up to the cursor: the first line of the answer says whether paths fit as well, the others are
// a word, a tab, and what it is.

const bash = `# pawl completion for bash. Install: pawl completion bash > ~/.local/share/bash-completion/completions/pawl
_pawl() {
  local IFS=$'\\n' lines line current="\${COMP_WORDS[COMP_CWORD]}"
  # Bash takes --option=value apart; here it is one word again.
  local words=() i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} == = && \${#words[@]} -gt 0 ]]; then words[-1]+="="
    elif [[ \${#words[@]} -gt 0 && \${words[-1]} == --*= && \${COMP_WORDS[i-1]} == = ]]; then words[-1]+="\${COMP_WORDS[i]}"
    else words+=("\${COMP_WORDS[i]}"); fi
  done
  [[ $current == = ]] && current=
  mapfile -t lines < <("\${COMP_WORDS[0]}" __complete -- "\${words[@]}" 2>/dev/null)
  COMPREPLY=()
  case \${lines[0]} in
    files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")) ;;
  esac
  for line in "\${lines[@]:1}"; do
    line=\${line%%$'\\t'*}
    [[ $line == --*=* && \${words[-1]} == --*=* ]] && line=\${line#*=}
    COMPREPLY+=("$line")
  done
}
complete -F _pawl pawl
`

const zsh = `#compdef pawl
# pawl completion for zsh. Install: pawl completion zsh > "\${fpath[1]}/_pawl"
_pawl() {
  local -a lines described
  local line
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $lines[1] in
    files) _files ;;
    folders) _files -/ ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( \${#described} )) && _describe -V 'pawl' described
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _pawl "$@"; else compdef _pawl pawl; fi
`

const fish = `# pawl completion for fish. Install: pawl completion fish > ~/.config/fish/completions/pawl.fish
function __pawl_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($tokens[1] __complete -- $tokens[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current" ''
    end
    printf '%s\\n' $lines[2..-1]
end
complete -c pawl -f -k -a '(__pawl_complete)'
`

export const scripts: Record<Shell, string> = { bash, zsh, fish }
