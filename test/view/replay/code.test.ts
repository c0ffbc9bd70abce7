/** What the parts of a written test share: its names, its helpers and its imports. */
import { assert, describe, it } from "@effect/vitest"
import { Code } from "../../../packages/view/src/replay/code.ts"
import type { Script } from "../../../packages/view/src/replay/parts.ts"

const script: Script = {
  input: "",
  at: 0,
  lasted: 0,
  agents: [],
  decisions: [],
  isStreamed: false,
  end: { type: "completed", text: "" }
}

const helpers =
  "call text later gives fails reply replyWith broken play stub behind beside answering fixer waits byCall libraryError outputOf".split(
    " "
  )

describe("the code of a written test [P1270]", () => {
  it("has no name that its helpers, its imports or its own lines have [P1270]", () => {
    const core = "Agent Approval Backoff Compaction KintsugiError LlmError Message Model Recovery Tool ToolPolicy"
    const effect = "Data Effect Exit Fiber Schedule Schema Stream TestClock ScriptedApprover ScriptedModel"
    const own = "beyond decodeError expect it input program wanted"
    for (const name of [...helpers, ...`${core} ${effect} ${own}`.split(" ")]) {
      assert.notStrictEqual(new Code(script).newName(name), name)
      assert.notStrictEqual(new Code(script).error({ tag: name, message: "" }), `new ${name}({ message: "" })`)
    }
    const code = new Code(script)
    assert.deepStrictEqual(
      ["desk", "desk", "other"].map((name) => code.nameOf(name)),
      ["desk", "desk", "other"]
    )
    assert.notStrictEqual(code.newName("desk"), "desk")
  })

  it("has the helpers that it uses, with what they need [P1270]", () => {
    const defined = (helper: string) => {
      const code = new Code(script)
      assert.strictEqual(code.use(helper), helper)
      const names = code.helpers().matchAll(/^const (?:\{ )?(\w+)/gm)
      return [...names].map(([, name]) => name).filter((name) => name !== "beyond" && name !== "decodeError")
    }
    for (const helper of helpers) {
      const needsLater = ["gives", "fails", "reply", "replyWith", "broken"].includes(helper)
      assert.deepStrictEqual(defined(helper), [...(needsLater ? ["later"] : []), helper])
    }
    const [head, beyond, ...rest] = new Code(script).helpers().split("\n")
    assert.match(head ?? "", /^\/\*\* What comes after the recording: /)
    assert.deepStrictEqual([beyond, rest], ['const beyond = "The recording ends here."', []])
  })

  it("provides a person to tools only if one was asked [P1270]", () => {
    const stub = (approval: object) => {
      const tools = [{ name: "pay", calls: new Map(), rows: [], ...approval }]
      const agents = [{ ...agent, tools }]
      const code = new Code({ ...script, agents })
      code.use("stub")
      return [code.needsApprover, /Effect\.Effect<string, unknown(.*?)>/.exec(code.helpers())?.[1]]
    }
    assert.deepStrictEqual(
      [stub({}), stub({ approval: [] })],
      [
        [false, ""],
        [true, ", Approval.Approver"]
      ]
    )
  })

  it("imports what it names outside of texts [P1270]", () => {
    const core =
      "Agent AgentEvent Approval Backoff Compaction KintsugiError LlmError Message Model Recovery Tool ToolPolicy"
    const effect = "Data Effect Exit Fiber Schedule Schema Stream"
    const always = 'import { TestClock } from "effect/testing"\nimport { expect, it } from "vitest"'
    const imports = (code: string) => new Code(script).imports(code)
    assert.strictEqual(imports('"Agent \\" Tool" agent Other'), always)
    for (const [names, path] of [
      [core, "@kintsugi/core"],
      ["ScriptedApprover ScriptedModel", "@kintsugi/core/testing"],
      [effect, "effect"]
    ] as const)
      for (const name of names.split(" "))
        assert.strictEqual(imports(`${name}.x`), `import { ${name} } from "${path}"\n${always}`)
    assert.strictEqual(imports("Tool Agent Effect").split("\n")[0], 'import { Agent, Tool } from "@kintsugi/core"')
  })

  it("makes an error of the recording anew, each class once [P1270]", () => {
    const code = new Code(script)
    assert.deepStrictEqual(
      [
        { tag: "Busy", message: "a" },
        { tag: "Busy", message: "b" },
        { tag: "NetworkError", message: "c", json: { _tag: "NetworkError", message: "c" } }
      ].map(code.error),
      [
        'new Busy({ message: "a" })',
        'new Busy({ message: "b" })',
        'libraryError({ _tag: "NetworkError", message: "c" })'
      ]
    )
    assert.strictEqual(code.errors(), 'class Busy extends Data.TaggedError("Busy")<{ readonly message: string }> {}')
  })
})

const agent: Script["agents"][number] = {
  name: "desk",
  prompt: undefined,
  models: [],
  answers: [],
  tools: [],
  builtIn: [],
  rows: [],
  unknown: [],
  denied: new Map(),
  budget: {},
  interruptsSiblings: false,
  restarts: false
}
