/** The little that tests use of it; the package brings no types. */
declare module 'express' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Request extends IncomingMessage {
    readonly path: string
  }
  export interface Response extends ServerResponse {
    status(code: number): Response
    json(body: unknown): Response
    redirect(url: string): void
  }
  export type NextFunction = () => void
  export type RequestHandler = (request: Request, response: Response, next: NextFunction) => unknown
  export interface Application {
    (request: IncomingMessage, response: ServerResponse): void
    use(handler: RequestHandler): this
    use(path: string, handler: RequestHandler): this
    get(path: string, handler: RequestHandler): this
    post(path: string, handler: RequestHandler): this
  }
  const express: { (): Application; json(options: { limit: string }): RequestHandler }
  export default express
}
