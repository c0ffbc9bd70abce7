/** Tests of one server side: a body that it accepts, and bodies that it refuses. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"

/** Something wrong with a body that is fine otherwise. */
interface Case {
  readonly why: string
  readonly body: unknown
  readonly status: number
  readonly says: RegExp
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const brain = () => Effect.succeed({ content: [Message.text("fine")] })

export const checking = (
  path: string,
  headers: Readonly<Record<string, string>>,
  fine: object,
  cases: ReadonlyArray<Case>
) => {
  const post = (at: string, body: unknown, sent: Readonly<Record<string, string>>) =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(AnyWire.handler(brain, { models: ["m", "gemini-2.5-flash"] }))
      return yield* Effect.promise(async () => {
        const text = typeof body === "string" ? body : JSON.stringify(body)
        const response = await fetch(`${server.url}${at}`, { method: "POST", body: text, headers: sent })
        return { status: response.status, text: await response.text() }
      })
    })
  it.live("nothing, where nothing is wrong", () =>
    Effect.gen(function* () {
      const { status, text } = yield* post(path, fine, headers)
      assert.strictEqual(status, 200, text)
      assert.include(text, "fine")
    })
  )
  it.live.each(cases)("$why", ({ body, headers: own = headers, path: at = path, says, status }) =>
    Effect.gen(function* () {
      const answer = yield* post(at, body, own)
      assert.strictEqual(answer.status, status)
      assert.match(answer.text, says)
    })
  )
}
