/** Tools whose calls the provider declares: `Tool.provider`. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, read, scripted } from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

const shell = Tool.provider("shell_call", ({ action }) => Effect.succeed({ output: [{ action: action ?? null }] }), {
  sideEffects: "unsafe"
})

it.run("the kind of its calls is in each request, and the tool is not offered [P1406]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const model = yield* make(calls(call("shell_call", { action: "ls" }, "c1")), done)
    const log = eventLog()
    yield* run(agentWith(tool, shell).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests.map(({ providerCalls, tools }) => [providerCalls, tools.map(({ name }) => name)]),
      [
        [["shell_call"], ["look"]],
        [["shell_call"], ["look"]]
      ]
    )
    assert.deepStrictEqual(read(model), ['result: {"output":[{"action":"ls"}]}'])
    assert.deepStrictEqual(
      log.of("tool-start").map(({ arguments: args, callId, tool }) => [callId, tool, args]),
      [["c1", "shell_call", { action: "ls" }]]
    )
  })
)

it.run("an agent without such a tool says nothing of kinds [P1406]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(done)
    yield* run(agentWith(scripted("look", Effect.succeed("seen")).tool), "go").pipe(Effect.provide(model.layer))
    assert.notProperty(model.requests[0], "providerCalls")
  })
)

it.run("a turn that leaves it out denies its calls, and says so [P1406]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(calls(call("shell_call", {}, "c1")), done)
    const agent = agentWith(shell).pipe(Agent.prepareTurn(() => Effect.succeed({ tools: [] })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.match(read(model)[0] ?? "", /^denied: /)
    assert.deepStrictEqual(model.requests[0]?.providerCalls, ["shell_call"])
  })
)

it.run("two tools of one kind are refused, and so is one without a function [P1406]", () =>
  Effect.sync(() => {
    const skill = Skill.make("work", { description: "d", tools: [shell, shell] })
    assert.throws(() => Agent.make("worker", { skills: [skill] }), /two tools named 'shell_call'/)
    // @ts-expect-error only an approval needs no function
    assert.throws(() => Tool.provider("shell_call"), "Tool.provider of kind 'shell_call' must be given a function")
    assert.throws(() => Tool.provider("shell call", () => Effect.succeed("")), TypeError)
  })
)

it.run(
  "the tool has the side effects that it is given, takes its fields as they are, and asks for approvals alone [P1406]",
  () =>
    Effect.sync(() => {
      const { definition } = shell
      assert.deepInclude(definition, { sideEffects: "unsafe", coercion: [], isProvided: true })
      assert.isUndefined(definition.approval)
      assert.strictEqual(Tool.provider("bash", () => Effect.succeed("")).definition.sideEffects, "undeclared")
      const approving = Tool.provider("mcp_approval_request").definition
      assert.strictEqual(approving.approval?.reason, "the provider asks before it calls an MCP server")
      assert.isTrue(approving.isProvided)
      // with a function, the kind is like any other
      assert.isUndefined(Tool.provider("mcp_approval_request", () => Effect.succeed({})).definition.approval)
    })
)

it.run("an approved request of an MCP server goes back with its fields and `approve` [P1406]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(calls(call("mcp_approval_request", { name: "pay", approve: false }, "c1")), done)
    const approve = Approval.layer(() => Effect.succeed(Approval.approve))
    yield* run(agentWith(Tool.provider("mcp_approval_request")), "go").pipe(Effect.provide([model.layer, approve]))
    assert.deepStrictEqual(read(model), ['result: {"name":"pay","approve":true}'])
  })
)
