/** What programs inside the walls are told of the way out. Their own loopback they reach themselves. */
export function proxyEnvironment(door = '{{PAWL_DOOR_URL}}'): Record<string, string> {
  const own = 'localhost,127.0.0.1,::1'
  const variables = { HTTP_PROXY: door, HTTPS_PROXY: door, ALL_PROXY: door, NO_PROXY: own }
  const lowerCase = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    ...variables,
    ...lowerCase,
    npm_config_proxy: door,
    npm_config_https_proxy: door,
    npm_config_noproxy: own,
    YARN_HTTP_PROXY: door,
    YARN_HTTPS_PROXY: door,
    NODE_USE_ENV_PROXY: '1',
  }
}
