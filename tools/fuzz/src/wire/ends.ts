/** Streams and bodies that end where they must not, fall silent, or are left by their reader; and half calls. */
import type * as Message from "@kintsugi/core/Message"
import { Fault } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import {
  type Answer,
  bodyOf,
  both,
  brain,
  bytesOf,
  changed,
  each,
  eventWires,
  first,
  isGood,
  shapeOf,
  text
} from "./answers.ts"
import type { Expected, Holds, Scenario, Serve } from "./scenario.ts"

const lost: Expected = { tags: ["NetworkError"], sends: 3 }

const silent: Expected = { tags: ["RequestTimeoutError"], sends: 1 }

const patience = { firstPart: "60 millis", betweenParts: "60 millis", requestTimeout: "2 seconds" } as const

const call: Message.Reply["content"] = [
  { type: "tool-call", id: "call_1", name: "search", arguments: { q: "folded paper cranes" } }
]

const isCall: Holds = (reply) => shapeOf(reply) === shapeOf({ ...reply, content: call })

/** Within a word of the body. */
const within =
  (word: string, how: "reset" | "end" | "silence"): Fault.Fault =>
  (good) =>
    Effect.map(good, (answer) => ({ ...answer, cut: { after: Buffer.from(bytesOf(answer)).indexOf(word) + 2, how } }))

const halfCall = (times: number, how: "reset" | "end", expected: Expected) =>
  each("half calls", `${times} times, then a ${how}`, () => ({
    modes: ["streamed"],
    serve: {
      type: "handler",
      handler: Fault.inFront(
        Array.from({ length: times }, () => within("paper", how)),
        brain(call)
      )
    },
    expected
  }))

/** Fifty pieces, one every 25 ms. */
const alive = (good: Answer): Partial<Answer> => ({
  split: { every: Math.ceil(bytesOf(good).length / 50) },
  beforePiece: () => Effect.sleep("25 millis")
})

const leaking: Readonly<Record<string, readonly [Serve, Expected, Scenario["stops"]?]>> = {
  "good answers": [changed(() => ({})), { ...isGood, sends: 400 }],
  refusals: [changed(() => ({ status: 503, body: "{}" })), { tags: ["ModelOverloadedError"], sends: 400 }],
  resets: [changed(() => ({ cut: { after: 40, how: "reset" } })), { tags: ["NetworkError"], sends: 400 }],
  "early ends": [changed(() => ({ cut: { after: 40, how: "end" } })), { tags: ["NetworkError"], sends: 400 }],
  "readers that stop": [
    changed((good) => ({ cut: { after: Buffer.from(bytesOf(good)).indexOf("search"), how: "silence" } })),
    { sends: 400 },
    "early"
  ]
}

export const leaks: ReadonlyArray<Scenario> = Object.entries(leaking).flatMap(([name, [serve, expected, stops]]) =>
  each(
    "leaks",
    `400 ${name}`,
    () => ({
      modes: ["streamed"],
      serve,
      expected,
      times: 400,
      transport: { retry: false },
      ...(stops === undefined ? {} : { stops })
    }),
    ["openai-chat"]
  )
)

export const ends: ReadonlyArray<Scenario> = [
  ...each("ends", "a stream that lives longer than the time until its head", () => ({
    modes: ["streamed"],
    serve: changed(alive),
    expected: isGood,
    transport: { requestTimeout: "1 second" }
  })),
  ...each("ends", "a whole reply that takes longer than its time", () => ({
    modes: ["whole"],
    serve: changed(alive),
    expected: { tags: ["RequestTimeoutError"], sends: 1 },
    transport: { requestTimeout: "300 millis" }
  })),
  ...(["reset", "end"] as const).flatMap((how) => [
    ...each("ends", `a ${how} before the head, twice`, () => ({
      modes: both,
      serve: first(2, Fault.cut("nothing", "reset")),
      expected: { ...isGood, sends: 3 }
    })),
    ...each("ends", `a ${how} right after the head, always`, () => ({
      modes: ["streamed"],
      serve: changed(() => ({ cut: { after: 0, how } })),
      expected: lost
    })),
    ...each("ends", `a ${how} within the first event, always`, () => ({
      modes: ["streamed"],
      serve: changed(() => ({ cut: { after: 9, how } })),
      expected: lost
    })),
    ...each("ends", `a ${how} behind a text, always`, () => ({
      modes: ["streamed"],
      serve: changed((good) => ({ cut: { after: Buffer.from(bytesOf(good)).indexOf("search") + 2, how } })),
      expected: { tags: ["NetworkError"], sends: 1, error: ({ partial }) => partial === undefined || partial === text }
    }))
  ]),
  ...each("ends", "a reset in the middle of a whole body, always", () => ({
    modes: ["whole"],
    serve: changed((good) => ({ cut: { after: Math.floor(bytesOf(good).length / 2), how: "reset" } })),
    expected: lost
  })),
  ...each(
    "ends",
    "a reset before the last mark",
    () => ({
      modes: ["streamed"],
      serve: changed((good) => ({
        cut: { after: Buffer.from(bytesOf(good)).lastIndexOf("data: [DONE]"), how: "reset" }
      })),
      expected: isGood
    }),
    ["openai-chat"]
  ),
  ...each("ends", "silence before the first part", () => ({
    modes: ["streamed"],
    serve: changed(() => ({ cut: { after: 0, how: "silence" } })),
    expected: silent,
    transport: patience
  })),
  ...each("ends", "silence behind a text", () => ({
    modes: ["streamed"],
    serve: changed((good) => ({ cut: { after: Buffer.from(bytesOf(good)).indexOf("search") + 2, how: "silence" } })),
    expected: silent,
    transport: patience
  })),
  ...each("ends", "no head", () => ({
    modes: both,
    serve: changed(() => ({ cut: { after: "nothing", how: "silence" } })),
    expected: silent,
    transport: { ...patience, requestTimeout: "100 millis" }
  })),
  ...each("ends", "a reader that stops early", () => ({
    modes: ["streamed"],
    serve: changed((good) => ({
      cut: { after: Buffer.from(bytesOf(good)).indexOf("search"), how: "silence" }
    })),
    expected: { sends: 1 },
    stops: "early"
  })),
  ...each("ends", "a reader that is interrupted", () => ({
    modes: ["streamed"],
    serve: changed((good) => ({
      cut: { after: Buffer.from(bytesOf(good)).indexOf("search"), how: "silence" }
    })),
    expected: { sends: 1 },
    stops: "interrupted"
  })),
  ...(["reset", "end"] as const).flatMap((how) => [
    ...halfCall(2, how, { reply: isCall, sends: 3 }),
    ...halfCall(3, how, { tags: ["NetworkError"], sends: 3 })
  ]),
  ...each(
    "ends",
    "an error in the middle of a stream",
    () => ({
      modes: ["streamed"],
      serve: changed((good) => ({
        body: `${bodyOf(good).split("\n\n").slice(0, 3).join("\n\n")}\n\ndata: {"type":"error","error":{"type":"server_error","message":"boom","code":500}}\n\n`
      })),
      expected: { tags: ["ServerError"] }
    }),
    eventWires
  )
]
