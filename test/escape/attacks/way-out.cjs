// Asks the door for hosts in every protocol. Arguments: wishes as JSON: [{ host (latin1), port }]. Prints [[way, host, port, what came]].
const net = require('node:net')
const door = Number(new URL(process.env.PAWL_DOOR_URL).port)
const ways = {
  http: (host, port) => `GET http://${host}:${port}/ HTTP/1.1\r\nhost: ${host}:${port}\r\nconnection: close\r\n\r\n`,
  connect: (host, port) => `CONNECT ${host}:${port} HTTP/1.1\r\nhost: ${host}:${port}\r\n\r\nGET / HTTP/1.0\r\n\r\n`,
  socks4: (_, port) => String.fromCharCode(4, 1, port >> 8, port & 255, 127, 0, 0, 1, 0),
  socks4a: (host, port) => `${String.fromCharCode(4, 1, port >> 8, port & 255, 0, 0, 0, 1, 0)}${host}\0`,
  socks5: (host, port) =>
    String.fromCharCode(5, 1, 0, 5, 1, 0, 3, host.length) + host + String.fromCharCode(port >> 8, port & 255),
  upgrade: (host, port) =>
    `GET http://${host}:${port}/ HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
}
const ask = (bytes) =>
  new Promise((done) => {
    const socket = net.connect(door, '127.0.0.1')
    let heard = ''
    const end = () => {
      socket.destroy()
      done(heard)
    }
    socket.setTimeout(1500, end)
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1')
    })
    socket.on('error', end)
    socket.on('close', end)
    socket.write(Buffer.from(bytes, 'latin1'))
  })
;(async () => {
  const found = []
  for (const { host, port } of JSON.parse(process.argv[1]))
    await Promise.all(
      Object.entries(ways).map(async ([way, words]) => found.push([way, host, port, await ask(words(host, port))])),
    )
  console.log(JSON.stringify(found))
})()
