/**
 * Whether real faults of the network are reported alike by each runtime's own `fetch`: under Node, and under Bun and Deno where
 * these commands exist.
 *
 *   node scripts/launch.mjs tools/system/src/portable.ts
 *
 * It is no part of the check. Exits with code 1 when a runtime tells one of them otherwise. A runtime that is not installed is named, and proves nothing.
 */
import { spawn } from "node:child_process"
import * as Http from "node:http"
import { fileURLToPath } from "node:url"
import { Message, Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import { Effect, Layer, Redacted } from "effect"

/** A base URL, of the server or of none, and what a call of it comes to. */
const cases = (
  server: string,
  refusing: string
): ReadonlyArray<readonly [what: string, baseUrl: string, expected: RegExp]> => [
  ["a reply", `${server}/ok`, /^hello$/],
  ["a status", `${server}/limited`, /^RateLimitError: .*429/],
  ["no server at the port", refusing, /^NetworkError: .*refused/],
  ["no such name", "http://nothing.invalid", /^NetworkError: .*could not be resolved/],
  ["a connection lost before the answer", `${server}/lost`, /^NetworkError: .*was lost/],
  ["a connection lost within the answer", `${server}/cut`, /^NetworkError: .*was lost/]
]

/** What one call comes to, in one line; run by the runtime that is tried. */
const tried = (baseUrl: string): Promise<string> => {
  const options = {
    model: "m",
    apiKey: Redacted.make("a-key-that-is-none"),
    baseUrl,
    transport: { retry: false }
  } as const
  const layer = Layer.provide(OpenAi.layer(options), Transport.layerFetch)
  const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
  const call = Effect.flatMap(Model.Model, (model) => model.generate(request))
  return Effect.runPromise(
    Effect.match(Effect.provide(call, layer), {
      onFailure: (error) => `${error._tag}: ${error.message}`.replaceAll("\n", " "),
      onSuccess: (reply) => reply.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
    })
  )
}

/** Answers well, with a status, in part, or not at all. */
const listen = async () => {
  const body = JSON.stringify({ choices: [{ message: { content: "hello" }, finish_reason: "stop" }] })
  const server = Http.createServer((request, response) => {
    request.resume().on("end", () => {
      if (request.url?.startsWith("/ok")) response.end(body)
      else if (request.url?.startsWith("/limited")) response.writeHead(429).end("{}")
      else if (request.url?.startsWith("/lost")) response.destroy()
      else response.writeHead(200, { "content-length": 1000 }).write(body, () => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  return { url: `http://127.0.0.1:${address.port}`, close: () => server.close() }
}

/** What a program prints; `undefined` where there is no such program. */
const run = (command: string, args: ReadonlyArray<string>): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] })
    let printed = ""
    child.stdout.on("data", (chunk) => (printed += String(chunk)))
    child.on("error", (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? resolve(undefined) : reject(error)))
    child.on("close", () => resolve(printed))
  })

const self = fileURLToPath(import.meta.url)

const runtimes: ReadonlyArray<readonly [name: string, command: string, args: ReadonlyArray<string>]> = [
  ["Node", process.execPath, [...process.execArgv, self]],
  ["Bun", "bun", ["run", self]],
  ["Deno", "deno", ["run", "--allow-all", "--node-modules-dir=manual", self]]
]

/** The number of faults with another report than expected. */
const compare = async (): Promise<number> => {
  const server = await listen()
  // a port at which no server listens any more
  const refusing = await listen()
  refusing.close()
  let wrong = 0
  for (const [name, command, args] of runtimes) {
    const printed = await run(command, [...args, "--within", server.url, refusing.url])
    if (printed === undefined) {
      console.log(`${name}: not installed, so nothing was tried`)
      continue
    }
    const lines = printed.trimEnd().split("\n")
    for (const [index, [what, , expected]] of cases(server.url, refusing.url).entries()) {
      const line = lines[index] ?? "nothing"
      const isSo = expected.test(line)
      if (!isSo) wrong++
      console.log(`${name}: ${isSo ? "ok   " : "WRONG"} ${what}: ${line}`)
    }
  }
  server.close()
  return wrong
}

const [within, url = "", refusing = ""] = process.argv.slice(2)
if (within === "--within") {
  for (const [, baseUrl] of cases(url, refusing)) console.log(await tried(baseUrl))
} else process.exitCode = (await compare()) === 0 ? 0 : 1
