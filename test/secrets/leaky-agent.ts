/** The source of a program that says every secret it can find, in every form, on both outputs, and then ends as its prompt says: say, ask, fail, crash, wait. */
export const leakyAgent = String.raw`
const fs = require('node:fs')
const { mode, names, files } = JSON.parse(fs.readFileSync(0, 'utf8').match(/\{.*\}/)[0])
const read = (file) => { try { return fs.readFileSync(file, 'utf8') } catch { return '' } }
const found = [...names.map((name) => process.env[name] ?? ''), ...files.map(read)].filter((text) => text !== '')
const base64 = (text) => Buffer.from(text).toString('base64')
const forms = (text) => [
  text, JSON.stringify({ text }), JSON.stringify(JSON.stringify({ text })), encodeURIComponent(text),
  Buffer.from(text).toString('hex'), Buffer.from(text).toString('hex').toUpperCase(),
  base64(text), base64('x' + text), base64('xy' + text), Buffer.from('x' + text).toString('base64url'),
  base64('export KEY=' + text).replace(/.{76}/g, '$&\n'), [...text].reverse().join(''), [...text].join('\0'),
]
const pause = () => new Promise((done) => setTimeout(done, 20))
const say = async (output, text) => {
  const bytes = Buffer.from(text + '\n')
  const middle = bytes.length >> 1
  fs.writeSync(output, bytes.subarray(0, middle))
  await pause()
  fs.writeSync(output, bytes.subarray(middle))
}
const record = (entry) => fs.writeSync(1, JSON.stringify(entry) + '\n')
;(async () => {
  if (process.env.SPEAKS === 'jsonl') {
    for (const text of found) for (const form of forms(text)) record({ text: form, deep: [{ [form.slice(0, 200)]: form }] })
    return record({ result: 'done with ' + found.join(' ') })
  }
  for (const text of found) {
    await say(1, forms(text).join('\n'))
    fs.writeSync(2, forms(text).join('\n') + '\n')
  }
  if (mode === 'ask') {
    const { PAWL_DOOR_URL, PAWL_DOOR_TOKEN } = process.env
    const headers = { authorization: 'Bearer ' + PAWL_DOOR_TOKEN, 'content-type': 'application/json' }
    const body = JSON.stringify({ kind: 'free', text: 'Is this right: ' + found.join(' '), options: found.slice(0, 3).map((text) => text.slice(0, 300)) })
    const answer = await fetch(PAWL_DOOR_URL + '/v1/questions', { method: 'POST', body, headers })
    if (answer.status !== 202) throw new Error('the door answered ' + answer.status + ': ' + (await answer.text()))
  }
  if (mode === 'fail') throw new Error('an exception that holds ' + found.join(' and '))
  if (mode === 'crash') process.kill(process.pid, 'SIGKILL')
  if (mode === 'wait' && !fs.existsSync('waited')) {
    fs.writeFileSync('waited', '')
    setInterval(() => undefined, 1_000_000)
  }
})()
`
