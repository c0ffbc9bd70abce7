/** Conversations on PostgreSQL with two processes, and on PGlite. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { Message } from "@kintsugi/core"
import { Conversations, Durable } from "@kintsugi/durable"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { afterEach, assert, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { folder as lab } from "../src/folder.ts"
import { postgres, startPostgres } from "../src/postgres.ts"

const children = new Set<ChildProcessByStdio<Writable, Readable, null>>()

afterEach(() => {
  for (const child of children) child.kill("SIGKILL")
  children.clear()
})

/** A process that appends to the conversation of all, once it is told to begin. */
const writer = (url: string, name: string, count: number) => {
  const child = spawn(process.execPath, [join(root, lab, "src/processes/writer.ts"), url, name, `${count}`], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  children.add(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<{ readonly ready?: true; readonly late?: number }> => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done === true) throw new Error("the writer has ended")
      // what is logged is no JSON
      if (value.startsWith('{"')) return JSON.parse(value)
    }
  }
  return { next, begin: () => child.stdin.write("begin\n") }
}

const of = { conversation: "shared", subject: "ann" }

/** What is stored holds together: each writer's messages once and in its order, and those of one append side by side. */
const holds = (texts: ReadonlyArray<string>, counts: Readonly<Record<string, number>>): void => {
  assert.strictEqual(texts.length, 2 * Object.values(counts).reduce((sum, count) => sum + count, 0))
  for (const [name, count] of Object.entries(counts)) {
    assert.deepStrictEqual(
      texts.filter((text) => text.startsWith(`${name}:`) && !text.endsWith("b")),
      Array.from({ length: count }, (_, nth) => `${name}:${nth}`)
    )
  }
  for (let at = 0; at < texts.length; at += 2) assert.strictEqual(texts[at + 1], `${texts[at]}b`)
}

const textOf = (message: Message.Message): string => (message.role === "user" ? Message.textOf(message) : "")

const line = Schema.decodeUnknownSync(Schema.fromJsonString(Conversations.ExportLine))

/** The texts of the conversation, which an export gives too, between its head and its end. */
const textsIn = Effect.gen(function* () {
  const store = yield* Conversations.Conversations
  const texts = (yield* store.load(of)).messages.map(textOf)
  const lines = (yield* Stream.runCollect(store.exportSubject(of.subject))).map((one) => line(one))
  const exported = lines.flatMap((one) => (one.type === "message" ? [textOf(one.message)] : []))
  assert.deepStrictEqual(exported, texts)
  assert.deepStrictEqual([lines[0]?.type, lines[1]?.type, lines.at(-1)?.type], ["begin", "conversation", "end"])
  return texts
})

const loaded = <E>(layer: Layer.Layer<Conversations.Conversations, E>) =>
  textsIn.pipe(Effect.provide(layer), Effect.runPromise)

const found = postgres.find()

it.skipIf(found === undefined)(
  "two processes on PostgreSQL append to one conversation, and no message is lost or missing in an export [P1383 P1854]",
  { timeout: 120_000 },
  async () => {
    const server = await startPostgres(found ?? "")
    try {
      const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`
      const writers = [writer(url, "a", 50), writer(url, "b", 50)]
      // both make the tables at once
      for (const one of writers) assert.isTrue((await one.next()).ready)
      for (const { begin } of writers) begin()
      const late = await Promise.all(writers.map(async ({ next }) => (await next()).late ?? 0))
      assert.isAbove(
        late.reduce((sum, count) => sum + count, 0),
        0
      )
      const database = Durable.layerPostgres({ url: Redacted.make(url), runner: "client" })
      holds(await loaded(Layer.provide(Conversations.layerSql(), database)), { a: 50, b: 50 })
    } finally {
      await server.stop()
    }
  }
)

it(
  "two writers on PGlite append to one conversation, and no message is lost or missing in an export [P1383 P1854]",
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "kintsugi-conversations-"))
    try {
      const layer = Layer.provide(Conversations.layerSql(), Durable.layerPglite({ folder }))
      const write = (store: Conversations.Store, name: string) =>
        Effect.gen(function* () {
          const at = { expected: 0, written: 0 }
          while (at.written < 20) {
            const messages = [Message.user(`${name}:${at.written}`), Message.user(`${name}:${at.written}b`)]
            yield* store.append({ ...of, expected: at.expected, messages }).pipe(
              Effect.tap((version) =>
                Effect.sync(() => {
                  at.expected = version
                  at.written++
                })
              ),
              Effect.catchTag("ConflictError", ({ actual }) =>
                Effect.sync(() => {
                  at.expected = actual
                })
              )
            )
          }
        })
      const texts = await Effect.gen(function* () {
        const store = yield* Conversations.Conversations
        yield* Effect.all([write(store, "a"), write(store, "b")], { concurrency: 2 })
        return yield* textsIn
      }).pipe(Effect.provide(layer), Effect.runPromise)
      holds(texts, { a: 20, b: 20 })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
)
