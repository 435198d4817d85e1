/**
 * What is said to a shell inside the walls. No word of it comes from an agent, and `"$@"` are the settings that keep git from starting anything. The store is a
 * repository with settings of ours alone, so that no filter, text conversion or hook that the workspace names is known to it.
 */

/** Stands for the tree of nothing at all, which has another name in each kind of repository. */
export const emptyTree = 'empty'

/** Begins a store in the home inside the walls: with the objects of the workspace's own repository behind it, if there is one, and its index as a beginning. */
export const newStoreScript = `
store="$HOME/git"
rm -rf "$store" "$HOME/index"
mkdir -p "$store/objects/info" "$store/refs" "$store/info"
format=sha1 own= common=
if [ -e .git ]; then
  found=$(git "$@" rev-parse --path-format=absolute --show-object-format --git-dir --git-common-dir 2>/dev/null) || found=
  if [ -n "$found" ]; then
    { read -r format; read -r own; read -r common; } <<END
$found
END
  fi
fi
printf 'ref: refs/heads/none\\n' > "$store/HEAD"
if [ "$format" = sha256 ]; then
  printf '[core]\\n\\trepositoryFormatVersion = 1\\n[extensions]\\n\\tobjectFormat = sha256\\n' > "$store/config"
else
  printf '[core]\\n\\trepositoryFormatVersion = 0\\n' > "$store/config"
fi
printf '* !filter !diff\\n' > "$store/info/attributes"
if [ -n "$common" ]; then
  printf '%s\\n' "$common/objects" > "$store/objects/info/alternates"
  cat "$common/info/exclude" > "$store/info/exclude" 2>/dev/null || :
  cat "$own/index" > "$HOME/index" 2>/dev/null || rm -f "$HOME/index"
else
  printf 'node_modules/\\n' > "$store/info/exclude"
fi
export GIT_DIR="$store" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$HOME/index"
if [ -e "$HOME/index" ]; then
  if git "$@" ls-files -v > "$HOME/flags" 2>/dev/null; then
    if grep -q '^[a-zS]' "$HOME/flags"; then
      git "$@" ls-files -z | git "$@" update-index -z --no-assume-unchanged --stdin
      git "$@" ls-files -z | git "$@" update-index -z --no-skip-worktree --stdin
    fi
  else
    rm -f "$HOME/index"
  fi
  rm -f "$HOME/flags"
fi
`

/**
 * Names what may have changed, each with a NUL behind it, and an empty name at last; then waits until its input ends. Nobody else works in this store: a lock is what a
 * git has left that was killed with its run.
 */
export const lookScript = `
rm -f "$HOME/index.lock"
export GIT_DIR="$HOME/git" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$HOME/index"
git "$@" diff-files --name-only -z --ignore-submodules=all
git "$@" ls-files -z --others --exclude-standard
printf '\\0'
read -r _ || :
`

/** Reads what was chosen, and prints what the tree is called. */
export const keepScript = `
if [ -s "$HOME/drop" ]; then git "$@" update-index --force-remove -z --stdin < "$HOME/drop"; fi
if [ -s "$HOME/take" ]; then git "$@" update-index --add --remove --replace -z --stdin < "$HOME/take"; fi
tree=$(git "$@" write-tree --missing-ok)
printf '%s\\n' "$tree"
`

/** What is different: which files, and how. More than anybody would keep of it is not even written. */
export const tellScript = `
rm -f "$HOME/list" "$HOME/patch"
: > "$HOME/list"
: > "$HOME/patch"
if [ "$PAWL_BASE" = ${emptyTree} ]; then PAWL_BASE=$(git "$@" mktree < /dev/null); fi
if [ "$tree" != "$PAWL_BASE" ]; then
  git "$@" diff-tree -r -z -M --raw --numstat "$PAWL_BASE" "$tree" > "$HOME/list"
  git "$@" diff-tree -r -M -p --no-ext-diff --no-textconv --no-color --full-index "$PAWL_BASE" "$tree" | head -c 16000000 > "$HOME/patch"
fi
`
