#!/bin/sh
# An agent for crash tests. Holds a lock while it lives and leaves marks with monotonic time, so that two at once are seen from outside.
#   plain | ask | reject | split | needed | needed-fails | hang | crash-once | fail-once | spend | model | stall-once | files | slow SECONDS | ticking | killer
mark() {
  read -r up _ < /proc/uptime
  printf '%s %s %s\n' "$1" "$PAWL_RUN_ID" "$up" >> marks
}
exec 9>> lock
case $1 in
  split*)
    prompt=$(cat)
    case $prompt in
      part*)
        flock -n 9 || mark overlap
        echo "did $prompt"
        exit
        ;;
    esac
    ;;
esac
flock -n 9 || mark overlap
mark begin
case $1 in
  split*) printf '%s\n' "$prompt" > prompt.txt ;;
  *) cat > prompt.txt ;;
esac
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
  reject) sed -n '/^\[The comment\]$/,$p' prompt.txt | sed -n 3p; echo 'done' ;;
  split*)
    if grep -q 'subtasks that you made have ended' prompt.txt; then
      sed -n 's/^did /heard: /p' prompt.txt
    else
      node -e '
        const made = require("node:fs").readFileSync("prompt.txt", "utf8")
        const make = async (name, left = 200) => {
          const body = JSON.stringify({ name, prompt: name })
          const headers = { authorization: `Bearer ${process.env.PAWL_API_TOKEN}`, "content-type": "application/json" }
          const status = await fetch(`${process.env.PAWL_API_URL}/v1/subtasks`, { method: "POST", body, headers }).then((r) => r.status, () => 0)
          if (status === 200 || status === 201) return
          if (left === 0) process.exit(7)
          await new Promise((again) => setTimeout(again, 100))
          return make(name, left - 1)
        }
        const parts = ["part 1", "part 2"].filter((name) => !made.includes(`"${name}"`))
        parts.reduce((before, name) => before.then(() => make(name)), Promise.resolve())
      ' || exit 7
      echo split
    fi
    ;;
  hang) echo working; while :; do sleep 0.1; done ;;
  crash-once) [ -e crashed ] || { : > crashed; echo 'about to crash'; kill -s KILL $$; }; echo 'done' ;;
  fail-once) [ -e failed ] || { : > failed; echo 'cannot' >&2; exit 3; }; echo 'done' ;;
  stall-once) [ -e stalled ] || { : > stalled; echo stalling; sleep 300; }; echo 'done' ;;
  spend) printf '{"text":"working","cost":0.1,"in":10}\n'; sleep 0.1; printf '{"text":"done","cost":0.25,"in":25}\n' ;;
  model)
    node -e '
      const call = () => fetch(`${process.env.PAWL_DOOR_URL}/model/v1/messages`, {
        method: "POST",
        headers: { "x-api-key": process.env.PAWL_DOOR_TOKEN, "content-type": "application/json", "anthropic-version": "2023-06-01" },
        body: JSON.stringify({ model: "crash-model", max_tokens: 200, metadata: { user_id: process.env.PAWL_RUN_ID }, messages: [{ role: "user", content: "x" }] }),
      }).then(async (answer) => answer.ok ? answer.text() : Promise.reject(new Error(await answer.text())))
      const pause = () => new Promise((go) => setTimeout(go, 150))
      call().then(pause).then(call).then(pause).catch((error) => { console.error(error.message); process.exit(7) })
    ' || exit 7
    echo 'done'
    ;;
  killer) echo working; while [ ! -e go ]; do sleep 0.1; done; sleep 1; kill -s KILL "$(cut -d' ' -f4 "/proc/$$/stat")"; sleep 300 ;;
  needed) echo working; sleep 1; echo 'done' ;;
  needed-fails) sleep 1; echo 'cannot' >&2; exit 3 ;;
  files) cp "$PAWL_ATTACHMENTS"/* "$PAWL_ARTIFACTS"/; sleep 0.1; echo 'done' ;;
  slow) echo working; sleep "$2"; echo 'done' ;;
  ticking) while [ ! -e finish ]; do mark tick; echo "tick of $PAWL_RUN_ID"; sleep 0.5; done; echo 'done' ;;
  *) echo working; sleep 0.1; echo 'done' ;;
esac
mark end
