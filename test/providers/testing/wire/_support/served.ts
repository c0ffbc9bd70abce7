/** A handler that is asked without a server. */
import { assert } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { AnyWire, type LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import type * as Wire from "../../../../../packages/providers/src/testing/wire/wire.ts"

export type Received = Parameters<Parameters<typeof LoopbackServer.make>[0]>[0]

export const received = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Received => ({
  number: 7,
  method: "POST",
  path,
  headers,
  text: JSON.stringify(body),
  body,
  at: 1_767_607_201_234
})

/** What the brain is asked, without the request as it was received, and the answer. */
export const served = Effect.fnUntraced(function* (
  request: Received,
  reply: Wire.BrainReply = { content: [Message.text("so")] },
  rules: Wire.Rules = {}
) {
  let heard: Wire.BrainRequest | undefined
  const brain: Wire.Brain = (asked) => Effect.sync(() => ((heard = asked), reply))
  const answer = yield* AnyWire.handler(brain, rules)(request)
  if (heard === undefined) return { answer, asked: undefined }
  const { received, ...asked } = heard
  assert.strictEqual(received, request)
  return { answer, asked }
})

/** The body of an answer as text. */
export const textOf = ({ body }: { readonly body: string | Uint8Array }): string => Buffer.from(body).toString()
