#!/bin/sh
# An agent for crash tests. Holds a lock while it lives and leaves marks with monotonic time, so that two at once are seen from outside.
#   plain | ask | hang | crash-once | fail-once | stall-once | slow SECONDS | ticking
mark() {
  read -r up _ < /proc/uptime
  printf '%s %s %s\n' "$1" "$PAWL_RUN_ID" "$up" >> marks
}
exec 9>> lock
flock -n 9 || mark overlap
mark begin
cat > prompt.txt
case $1 in
  ask)
    if grep -q '^\[The answer\]$' prompt.txt; then
      printf 'heard: '
      sed -n '/^\[The answer\]$/,$p' prompt.txt | sed -n 3p
    else
      node -e '
        const ask = async (left) => {
          const body = JSON.stringify({ kind: "free", text: "Which colour?", options: [] })
          const headers = { authorization: `Bearer ${process.env.PAWL_DOOR_TOKEN}`, "content-type": "application/json" }
          const status = await fetch(`${process.env.PAWL_DOOR_URL}/v1/questions`, { method: "POST", body, headers }).then((r) => r.status, () => 0)
          if (status === 202) return
          if (left === 0) process.exit(7)
          setTimeout(ask, 100, left - 1)
        }
        ask(200)
      ' || exit 7
      echo asked
    fi
    ;;
  hang) echo working; while :; do sleep 0.1; done ;;
  crash-once) [ -e crashed ] || { : > crashed; echo 'about to crash'; kill -s KILL $$; }; echo 'done' ;;
  fail-once) [ -e failed ] || { : > failed; echo 'cannot' >&2; exit 3; }; echo 'done' ;;
  stall-once) [ -e stalled ] || { : > stalled; echo stalling; sleep 300; }; echo 'done' ;;
  slow) echo working; sleep "$2"; echo 'done' ;;
  ticking) while [ ! -e finish ]; do mark tick; echo "tick of $PAWL_RUN_ID"; sleep 0.5; done; echo 'done' ;;
  *) echo working; sleep 0.1; echo 'done' ;;
esac
mark end
