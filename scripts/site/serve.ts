/** Serves a folder on the loopback interface alone. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { extname, join, normalize, sep } from "node:path"

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

/** The file that a path means: itself, a page without its ending, or the page of a folder. */
const fileOf = (folder: string, path: string): string | undefined => {
  const wanted = normalize(join(folder, path))
  if (wanted !== folder && !wanted.startsWith(folder + sep)) return undefined
  return [wanted, `${wanted}.html`, join(wanted, "index.html")].find(
    (file) => existsSync(file) && statSync(file).isFile()
  )
}

/** Starts to answer; `port` 0 takes one that is free. */
export const serve = (folder: string, base: string, port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname)
      const file = path.startsWith(base) ? fileOf(folder, path.slice(base.length)) : undefined
      const shown = file ?? join(folder, "404.html")
      response.writeHead(file === undefined ? 404 : 200, {
        "content-type": types[extname(shown)] ?? "application/octet-stream"
      })
      response.end(readFileSync(shown))
    })
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => resolve(server))
  })
