/** Every recording of every provider, over a real connection, whole and streamed, cut wherever a network may cut. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Exit } from "effect"
import {
  checkError,
  checkReply,
  collect,
  errorOfExit,
  generate,
  modelAt,
  replay,
  replayed,
  usageOf
} from "../_support/replay.ts"
import type { Fixture } from "../../_support/wireFixtures.ts"

const isFailure = ({ status }: Fixture) => status < 200 || status >= 300

/** A reply is returned although its calls are invalid: running them shows it. */
const isReply = ({ expected, status }: Fixture) =>
  status === 200 && (expected.error === undefined || expected.outcome === "tool-calls")

/** What came instead of a reply: an error within a successful answer, or a reply that was held back. */
const checkEnd = (exit: Exit.Exit<unknown, LlmError.LlmError>, fixture: Fixture) => {
  const error = errorOfExit(exit)
  const { expected } = fixture
  if (expected.error !== undefined) checkError(error, expected.error)
  else {
    assert.strictEqual(expected.outcome, "filtered")
    assert(error instanceof LlmError.ContentFilteredError)
    if (expected.refusal !== undefined) assert.strictEqual(error.detail, expected.refusal)
  }
  if (expected.usage !== undefined && expected.usage !== null) {
    assert.deepStrictEqual(error.usage, usageOf(fixture.api, expected.usage))
  }
}

describe("whole answers", () => {
  for (const fixture of replayed.filter((fixture) => !fixture.streaming && !isFailure(fixture))) {
    it.live(`reads ${fixture.id} [A114 T8 A814]`, () =>
      Effect.gen(function* () {
        const exit = yield* replay(fixture, generate)
        if (!isReply(fixture) || fixture.expected.outcome === "filtered") return checkEnd(exit, fixture)
        assert(Exit.isSuccess(exit), String(exit))
        checkReply(exit.value, fixture)
      })
    )
  }
})

describe("failures", () => {
  for (const fixture of replayed.filter(isFailure)) {
    for (const [how, effect] of [
      ["whole", generate],
      ["streamed", collect]
    ] as const) {
      it.live(`classifies ${fixture.id} (${how}) [T8 T35 A811 A814]`, () =>
        Effect.gen(function* () {
          const error = errorOfExit(yield* replay(fixture, effect))
          assert(fixture.expected.error !== undefined)
          checkError(error, fixture.expected.error)
          assert.strictEqual(error.status, fixture.status)
        })
      )
    }
  }
})

describe("streams", () => {
  const splits: ReadonlyArray<Parameters<typeof Fault.split>[0]> = [
    "whole",
    "event",
    "byte",
    "inside-characters",
    { every: 7 }
  ]
  const check = (exit: Exit.Exit<Effect.Success<typeof collect>, LlmError.LlmError>, fixture: Fixture) => {
    if (!isReply(fixture)) return checkEnd(exit, fixture)
    assert(Exit.isSuccess(exit), String(exit))
    checkReply(exit.value, fixture)
  }
  for (const fixture of replayed.filter(({ status, streaming }) => streaming && status === 200)) {
    for (const split of splits) {
      it.live(`reads ${fixture.id}, cut ${JSON.stringify(split)} [A114 A814]`, () =>
        Effect.gen(function* () {
          check(yield* replay(fixture, collect, split), fixture)
        })
      )
    }

    for (const [name, end] of [
      ["LF", "\n"],
      ["CRLF", "\r\n"]
    ] as const) {
      it.live(`reads ${fixture.id} with ${name}, cut inside of it [A114]`, () =>
        Effect.gen(function* () {
          const edit = (text: string) => text.replaceAll(/\r?\n/g, end)
          check(yield* replay(fixture, collect, "inside-crlf", edit), fixture)
        })
      )
    }

    if (isReply(fixture)) {
      it.live(
        `${fixture.id} is a NetworkError without its end, wherever it is cut off, and never half a reply [P504]`,
        () =>
          Effect.gen(function* () {
            const bytes = new TextEncoder().encode(fixture.body)
            for (const share of [0.1, 0.3, 0.5, 0.7]) {
              const server = yield* LoopbackServer.make(
                Fault.inFront([Fault.cut(Math.floor(bytes.length * share), "end")], () =>
                  Effect.succeed({ headers: fixture.headers, body: fixture.body })
                )
              )
              const exit = yield* Effect.exit(Effect.provide(collect, modelAt(fixture, server.url)))
              if (Exit.isSuccess(exit)) checkReply(exit.value, fixture)
              else assert.strictEqual(errorOfExit(exit)._tag, "NetworkError")
            }
          })
      )
    }
  }

  it.live("reads a stream with wider characters, cut inside of them [A114]", () =>
    Effect.gen(function* () {
      for (const fixture of replayed.filter(({ id }) => id.endsWith("-stream-text-1"))) {
        const wide = (text: string) => text.replaceAll("World", "Wörld 🙂").replaceAll("hello", "héllo 🙂")
        const whole = yield* replay(fixture, collect, "whole", wide)
        for (const split of ["inside-characters", "byte"] as const) {
          assert.deepStrictEqual(yield* replay(fixture, collect, split, wide), whole)
        }
        assert(Exit.isSuccess(whole))
      }
    })
  )
})
