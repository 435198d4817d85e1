/**
 * Our tools for programs that can only start an MCP server as a command, as source text: inside the walls there is no file of ours.
 * Run by Node (`node -e`, or from a file in the session home), it passes each line of its stdin to the door and prints what comes back.
 *
 * The address and the token come by the environment that the agent has anyway. It goes straight to the door, whatever proxy is set there.
 */
export const bridgeSource = String.raw`
const http = require('node:http')
const { PAWL_DOOR_URL: door, PAWL_DOOR_TOKEN: token, PAWL_DOOR_PATH: path = '/mcp' } = process.env
if (!door || !token) {
  console.error('PAWL_DOOR_URL and PAWL_DOOR_TOKEN are not set: this program runs only inside a run of Pawl.')
  process.exit(1)
}
const agent = new http.Agent()
let protocolVersion

// Over HTTP the revision is named in a header, and from 2026-07-28 on the method and what it is about too.
function headersOf(message) {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const claimed = message?.params?._meta?.['io.modelcontextprotocol/protocolVersion']
  if (claimed) {
    headers['mcp-method'] = message.method
    const name = message.params.name ?? message.params.uri
    if (name) headers['mcp-name'] = name
  }
  if (claimed ?? protocolVersion) headers['mcp-protocol-version'] = claimed ?? protocolVersion
  return headers
}

function post(text, headers) {
  return new Promise((resolve, reject) => {
    const request = http.request(door + path, { method: 'POST', headers, agent }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (part) => { body += part })
      response.on('end', () => resolve(body))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(text)
  })
}

function parsed(text) {
  try { return JSON.parse(text) } catch { return undefined }
}

async function forward(line) {
  const message = parsed(line)
  const id = message?.id
  const isRequest = message?.method !== undefined && id !== undefined
  let answer
  let why
  try {
    const body = await post(line, headersOf(message))
    answer = parsed(body)
    why = typeof answer?.error === 'string' ? answer.error : body
  } catch (error) {
    why = 'Pawl does not answer at its door: ' + error.message
  }
  if (message && !isRequest) return
  if (answer?.jsonrpc !== '2.0') answer = { jsonrpc: '2.0', id: id ?? null, error: { code: -32000, message: why } }
  // What was refused before it was read as a message carries no id; the program waits for its own.
  if (isRequest) answer.id = id
  if (message?.method === 'initialize' && answer.result) protocolVersion = answer.result.protocolVersion
  process.stdout.write(JSON.stringify(answer) + '\n')
}

let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (part) => {
  const lines = (rest + part).split('\n')
  rest = lines.pop()
  for (const line of lines) if (line.trim() !== '') void forward(line)
})
process.stdin.on('end', () => { if (rest.trim() !== '') void forward(rest) })
`
