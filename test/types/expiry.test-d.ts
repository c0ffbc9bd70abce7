/** What `onExpiry` leaves in the failures of a tool. */
import { Agent, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect } from "./_support/Identity.ts"

const plain = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({ cents: Schema.Int }),
  success: Schema.String,
  run: () => Effect.succeed("paid")
})

type FailureOf<T> = T extends Tool.AnyTool ? Tool.ErrorOf<T> : never

describe("onExpiry", () => {
  it("adds a failure only where the call fails [P1530]", () => {
    const asked = plain.pipe(Tool.requireApproval())
    const refusing = plain.pipe(Tool.requireApproval({ onExpiry: "refuse" }))
    const failing = plain.pipe(Tool.requireApproval({ onExpiry: "fail" }))
    const first = Tool.requireApproval(plain, { onExpiry: "fail" })
    type _asked = Expect<Equal<FailureOf<typeof asked>, never>>
    type _refusing = Expect<Equal<FailureOf<typeof refusing>, never>>
    type _failing = Expect<Equal<FailureOf<typeof failing>, ToolError.ApprovalExpiredError>>
    type _first = Expect<Equal<FailureOf<typeof first>, ToolError.ApprovalExpiredError>>
  })

  it("a row takes the failure, which leaves without one [P1530]", () => {
    const failing = plain.pipe(Tool.requireApproval({ onExpiry: "fail" }))
    const left = Agent.make("clerk", { tools: [failing] })("go")
    const handled = Agent.make("clerk", {
      tools: [failing.pipe(Tool.onError({ ApprovalExpiredError: Recovery.tell() }))]
    })("go")
    type _left = Expect<
      Equal<Extract<Effect.Error<typeof left>, { _tag: "ApprovalExpiredError" }>, ToolError.ApprovalExpiredError>
    >
    type _handled = Expect<Equal<Extract<Effect.Error<typeof handled>, { _tag: "ApprovalExpiredError" }>, never>>
    // @ts-expect-error no call of this tool fails so
    plain.pipe(Tool.requireApproval(), Tool.onError({ ApprovalExpiredError: Recovery.tell() }))
  })

  it("does not compile with another word, or below a row for all failures [P1530]", () => {
    // @ts-expect-error there is no such policy
    plain.pipe(Tool.requireApproval({ onExpiry: "approve" }))
    // @ts-expect-error the row was written for other failures
    plain.pipe(Tool.onError({ orElse: Recovery.tell() }), Tool.requireApproval({ onExpiry: "fail" }))
  })
})
