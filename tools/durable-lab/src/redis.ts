/** A Redis that is thrown away, and a client of it for Effect's `Redis` with the few kinds of answers that scripts give. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { Redis } from "effect/persistence"
import { apt, onPath, type Tool } from "../../../scripts/provide.ts"
import { freePort } from "./postgres.ts"

export const redis: Tool = { name: "Redis", find: () => onPath("redis-server"), install: apt("redis-server") }

/** Starts a server for this machine alone, which keeps nothing on disk. */
export const startRedis = async (program: string) => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-redis-"))
  const port = await freePort()
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] })
  const ended = once(server, "close")
  const last = () => {
    server.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
  process.once("exit", last)
  const ready = new Promise<void>((resolve, reject) => {
    let said = ""
    server.stdout.on("data", (chunk) => {
      said = (said + String(chunk)).slice(-10_000)
      if (said.includes("Ready to accept connections")) resolve()
    })
    server.once("error", reject)
    server.once("close", (code) => reject(new Error(`Redis ended with ${code}:\n${said}`)))
  })
  const stop = async () => {
    process.off("exit", last)
    server.kill("SIGTERM")
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  await ready
  return { port, stop }
}

/** One answer from the beginning of a text, and where it ends; `undefined` while it is not whole. */
const answerIn = (text: string, at: number): { readonly value: unknown; readonly end: number } | undefined => {
  const line = text.indexOf("\r\n", at)
  if (line < 0) return undefined
  const [kind, rest] = [text[at], text.slice(at + 1, line)]
  let end = line + 2
  if (kind === "+") return { value: rest, end }
  if (kind === ":") return { value: Number(rest), end }
  if (kind === "-") return { value: new Error(rest), end }
  const length = Number(rest)
  if (length < 0) return { value: null, end }
  if (kind === "$") {
    return text.length < end + length + 2 ? undefined : { value: text.slice(end, end + length), end: end + length + 2 }
  }
  const values: Array<unknown> = []
  while (values.length < length) {
    const found = answerIn(text, end)
    if (found === undefined) return undefined
    values.push(found.value)
    end = found.end
  }
  return { value: values, end }
}

/** A connection; answers come in the order of the commands. */
const connection = (port: number) =>
  Effect.gen(function* () {
    const waiting: Array<(answer: unknown) => void> = []
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => connect(port, "127.0.0.1")),
      (opened) => Effect.sync(() => opened.destroy())
    )
    let text = ""
    let lost: Error | undefined
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += String(chunk)
      for (let found = answerIn(text, 0); found !== undefined; found = answerIn(text, 0)) {
        text = text.slice(found.end)
        waiting.shift()?.(found.value)
      }
    })
    const lose = (error?: Error) => {
      lost ??= error ?? new Error("the connection was closed")
      for (const one of waiting.splice(0)) one(lost)
    }
    socket.on("error", lose).on("close", () => lose())
    // cast: the caller knows what its command answers
    return <A = unknown>(command: string, ...args: ReadonlyArray<string>) =>
      Effect.callback<A, Redis.RedisError>((resume) => {
        const done = (answer: unknown) =>
          resume(
            answer instanceof Error ? Effect.fail(new Redis.RedisError({ cause: answer })) : Effect.succeed(answer as A)
          )
        if (lost !== undefined) return done(lost)
        waiting.push(done)
        const words = [command, ...args].map((word) => Buffer.from(word))
        const parts = words.flatMap((word) => [Buffer.from(`$${word.length}\r\n`), word, Buffer.from("\r\n")])
        socket.write(Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]))
      })
  })

/** Effect's Redis on a connection of its own, as that of another process. */
export const layerRedis = (port: number): Layer.Layer<Redis.Redis> =>
  Layer.effect(
    Redis.Redis,
    Effect.gen(function* () {
      const send = yield* connection(port)
      const unused = Effect.die(new Error("rate limits neither subscribe nor reserve a connection"))
      return yield* Redis.make({ send, subscribe: () => unused, connect: unused })
    })
  )
