/** The messages of failures of tools. */
import { assert, describe, it } from "@effect/vitest"
import { ToolError } from "@kintsugi/core"
import * as Factories from "@kintsugi/core/Factories"
import { Duration, Struct } from "effect"
import { reads } from "../_support/messages.ts"

const { seconds } = Duration
const ofCall = { tool: "look", callId: "c1" }

describe("the message of", () => {
  it("InvalidArgs [T9 T10]", () =>
    reads("Repair the arguments and call the tool again", [
      [
        ToolError.InvalidArgs.make({ ...ofCall, rawArgs: "{", parseError: "it ends early" }),
        "The arguments of tool 'look' are not valid JSON (call c1): it ends early"
      ],
      [
        ToolError.InvalidArgs.make({ tool: "look", callId: "", rawArgs: "{", parseError: "" }),
        "The arguments of tool 'look' are not valid JSON"
      ],
      [
        ToolError.InvalidArgs.make({ ...ofCall, what: "It is no text", rawArgs: "{", parseError: "" }),
        "It is no text (call c1)"
      ]
    ]))

  it("DeserializationError [T9 T10]", () =>
    reads("Correct these fields and call the tool again", [
      [
        ToolError.DeserializationError.make({
          ...ofCall,
          rawValue: 5,
          targetType: "T",
          issues: [{ path: ["n"], expected: "a number", actual: '"x"' }]
        }),
        "The arguments of tool 'look' do not fit its parameters (call c1): n: a number, got \"x\""
      ]
    ]))

  it("EscalationError [T9 T10]", () =>
    reads("Read the reason, and decide at its severity", [
      [
        ToolError.EscalationError.make({ source: "a", reason: "too hard" }),
        "Agent 'a' gave up (severity HIGH): too hard"
      ],
      [
        ToolError.EscalationError.make({ source: "a", reason: "too hard", severity: "LOW" }),
        "Agent 'a' gave up (severity LOW): too hard"
      ]
    ]))

  it("UnknownToolError [T9 T10]", () =>
    reads("Call one of the known tools", [
      [
        ToolError.UnknownToolError.make({ ...ofCall, available: [] }),
        "There is no tool 'look' (call c1): there are no tools"
      ],
      [
        ToolError.UnknownToolError.make({ tool: "look", callId: "", available: ["find", "read"] }),
        "There is no tool 'look': available tools are find, read"
      ],
      [
        ToolError.UnknownToolError.make({ ...ofCall, what: "It is hidden", available: [] }),
        "It is hidden (call c1): there are no tools"
      ]
    ]))

  it("ToolTimeoutError [T9 T10]", () =>
    reads("Allow more time; run it again only if that is safe", [
      [ToolError.ToolTimeoutError.make({ tool: "look", timeout: seconds(3) }), "Tool 'look' did not end within 3s"],
      [
        ToolError.ToolTimeoutError.make({ ...ofCall, timeout: seconds(3), tookEffect: false }),
        "Tool 'look' did not end within 3s, and took no effect (call c1)"
      ]
    ]))

  it("ToolDeniedError [T9 T10]", () =>
    reads("Respect the reason, or ask for another decision", [
      [
        ToolError.ToolDeniedError.make({ ...ofCall, reason: "not now" }),
        "The call of tool 'look' was denied (call c1): not now"
      ]
    ]))

  it("ApprovalExpiredError [T9 T10]", () =>
    reads("Ask a person again, or give the decision more time", [
      [ToolError.ApprovalExpiredError.make(ofCall), "No decision about the call of tool 'look' came in time (call c1)"]
    ]))

  it("OutcomeUnknownError [T9 T10]", () =>
    reads("Look up by its key whether it took effect, before any repetition", [
      [
        ToolError.OutcomeUnknownError.make({ ...ofCall, idempotencyKey: "k" }),
        "Tool 'look' was cut off after its start, and may have taken effect (call c1, key k)"
      ],
      [
        ToolError.OutcomeUnknownError.make({ tool: "look", callId: "", idempotencyKey: "k" }),
        "Tool 'look' was cut off after its start, and may have taken effect (key k)"
      ]
    ]))

  it("ToolExecutionError [T9 T10]", () =>
    reads("Read in its attempts what was tried", [
      [
        ToolError.exhausted(ofCall, { failures: [new Error("no")], runs: 1 }),
        "Tool 'look' failed after 1 attempt (call c1): no"
      ],
      [
        ToolError.exhausted(ofCall, {
          failures: [new Error("no")],
          runs: 2,
          why: "too late",
          ofFixer: new Error("nor I")
        }),
        "Tool 'look' failed after 2 attempts (call c1, too late): no; its fixer failed: nor I"
      ],
      [
        ToolError.exhausted({ tool: "look", callId: "" }, { failures: [], cause: new Error("no"), runs: 0 }),
        "Tool 'look' was never run: no"
      ]
    ]))

  it("an error of a tool stays as it was given [T9 T10]", () => {
    for (const [error, message] of [
      [Factories.fromApiError("look", "local", 500, ""), "status 500"],
      [Factories.fromApiError("look", "local", 500, "no"), "no (status 500)"],
      [ToolError.ToolExecutionError.make({ tool: "look", message: "It is over" }), "It is over"]
    ] as const)
      assert.strictEqual(error.message, message)
  })

  it("an error of a tool without a cause or words is its category [T9]", () => {
    const labels = {
      network: "Network error",
      parameter: "Parameter error",
      client: "Client error",
      server: "Server error",
      validation: "Validation error",
      llm: "Model error",
      mcp: "MCP error",
      invocation: "Invocation error",
      unknown: "Unknown error"
    } as const
    for (const category of Struct.keys(labels))
      assert.strictEqual(
        ToolError.ExecutionError.make({ tool: "look", kind: "local", category }).message,
        labels[category]
      )
  })

  it("an error of a tool has the category of its status [T9]", () => {
    const categories = { 399: "unknown", 400: "client", 499: "client", 500: "server", 599: "server", 600: "unknown" }
    for (const [status, category] of Object.entries(categories))
      assert.strictEqual(Factories.fromApiError("look", "local", Number(status), "").category, category, status)
  })

  it("an error of a tool is that of one call: of the call that made it, else of the present one [T9]", () => {
    const call = { tool: "look", callId: "c2", kind: "local", args: [2] } as const
    const made = { tool: "look", kind: "mcp-tool", category: "mcp", cause: new Error("no") } as const
    const own = ToolError.ExecutionError.make({ ...made, callId: "c1", args: [1] })
    assert.strictEqual(ToolError.executionErrorOf(call, own), own)
    const bare = ToolError.ExecutionError.make(made)
    const wanted = ToolError.ExecutionError.make({ ...made, callId: "c2", args: [2] })
    const given = ToolError.executionErrorOf(call, bare)
    assert.deepStrictEqual({ ...given }, { ...wanted })
    assert.deepStrictEqual([given.message, given.cause], ["no", made.cause])
  })

  it("an error of a tool has no status that is not finite [T9]", () => {
    const made = { tool: "look", kind: "local", category: "server" } as const
    for (const status of [NaN, Infinity, undefined])
      assert.notProperty(
        ToolError.ExecutionError.make({ ...made, ...(status === undefined ? {} : { status }) }),
        "status"
      )
    assert.strictEqual(ToolError.ExecutionError.make({ ...made, status: 503 }).status, 503)
  })
})
