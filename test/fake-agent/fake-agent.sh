#!/bin/sh
# The cheap cases of fake-agent.js without the price of starting Node. Plays its arguments in order:
#   say TEXT | err TEXT | cat (the prompt back) | append FILE TEXT (adds `TEXT pid uptime-s`) | write FILE TEXT | sleep SECONDS | hang | ignore-term
#   kill SIGNAL | exit CODE
# Without arguments it says "done". The prompt on stdin is read by `cat` only.
[ $# -gt 0 ] || set -- say done
while [ $# -gt 0 ]; do
  step=$1
  shift
  case $step in
    say) printf '%s\n' "$1"; shift ;;
    err) printf '%s\n' "$1" >&2; shift ;;
    cat) cat ;;
    append) read -r up _ < /proc/uptime; printf '%s %s %s\n' "$2" "$$" "$up" >> "$1"; shift 2 ;;
    write) printf '%s' "$2" > "$1"; shift 2 ;;
    sleep) sleep "$1"; shift ;;
    hang) while :; do sleep 3600; done ;;
    ignore-term) trap '' TERM HUP INT ;;
    kill) kill -s "$1" "$$"; shift ;;
    exit) exit "$1" ;;
    --) shift $# ;;
    *) printf 'fake-agent.sh knows no step "%s"\n' "$step" >&2; exit 64 ;;
  esac
done
