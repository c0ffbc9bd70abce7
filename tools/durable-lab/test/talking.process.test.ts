import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Conversations, Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Layer } from "effect"
import { assert, it } from "vitest"
import { postgres } from "../src/postgres.ts"
import { talksIn } from "../src/talk.ts"
import { expected, talk } from "../src/talking.ts"

const found = postgres.find()

it.skipIf(found === undefined)(
  "two runners are killed in the middle of an unsafe tool: each tool has run once, and each message has one answer [P1384]",
  { timeout: 180_000 },
  async () => {
    assert.deepStrictEqual(await talk(found ?? ""), expected)
  }
)

it("on PGlite, the next process goes on with a conversation [P1384]", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-talking-"))
  const talks = talksIn(join(folder, "ledger"))
  const of = { conversation: "c-1", subject: "ann" }
  const ask = (id: string, message: string) =>
    Effect.gen(function* () {
      yield* ConversationEntity.send(talks, { ...of, id, message })
      const answer = yield* ConversationEntity.answer(talks, { ...of, id })
      const { version } = yield* (yield* Conversations.Conversations).load(of)
      return [answer, version]
    }).pipe(
      Effect.provide(
        Layer.fresh(talks.layer).pipe(
          Layer.provideMerge(Conversations.layerSql()),
          Layer.provideMerge(Layer.fresh(Durable.layerPglite({ folder })))
        )
      ),
      Effect.runPromise
    )
  try {
    assert.deepStrictEqual(await ask("1", "hello"), ["answer to hello", 2])
    assert.deepStrictEqual(await ask("1", "hello"), ["answer to hello", 2])
    assert.deepStrictEqual(await ask("2", "more"), ["answer to more", 4])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
