/** A result is cut, or it is put aside. */
import { Agent, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { test } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

const putAside = Tool.putAside({ above: 20_000 })
const options = { description: "Looks.", parameters: Schema.Struct({ at: Schema.String }), success: Schema.String }

test("both lengths at once do not compile, and either leaves the type of the tool as it is [P1535]", () => {
  const plain = Tool.make("look", { ...options, run: ({ at }) => Effect.succeed(at) })
  const long = Tool.make("look", { ...options, putAside, run: ({ at }) => Effect.succeed(at) })
  type _long = Expect<Equal<typeof long, typeof plain>>
  const cut = Tool.make("look", { ...options, maxResultChars: 9, run: ({ at }) => Effect.succeed(at) })
  type _cut = Expect<Equal<typeof cut, typeof plain>>

  // @ts-expect-error a result is cut, or it is put aside
  Tool.make("look", { ...options, putAside, maxResultChars: 9, run: ({ at }) => Effect.succeed(at) })
  // @ts-expect-error a result is cut, or it is put aside
  Tool.fromFunction("look", { ...options, putAside, maxResultChars: 9, run: ({ at }) => at })
  const agent = Agent.make("worker", { tools: [long], putAside })
  Agent.asTool(agent, { description: "Asks.", putAside })
  // @ts-expect-error a result is cut, or it is put aside
  Agent.asTool(agent, { description: "Asks.", putAside, maxResultChars: 9 })
  // @ts-expect-error the length is needed
  Tool.putAside({})
})
