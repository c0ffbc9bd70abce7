import { assert, it } from "@effect/vitest"
import { vi } from "vitest"
import { definedAt } from "../../../packages/core/src/data/Defined.ts"

/** What is found for these frames of the stack: those of this library, then that of the program. */
const found = (platform: object, ...frames: ReadonlyArray<string>) => {
  const before = Error.prepareStackTrace
  Error.prepareStackTrace = () => ["Error: defined", ...frames.map((frame) => `    at ${frame}`)].join("\n")
  vi.stubGlobal("process", { env: { KINTSUGI_DEFINED_AT: "1" }, ...platform })
  try {
    return definedAt()
  } finally {
    vi.unstubAllGlobals()
    if (before === undefined) delete (Error as { prepareStackTrace?: unknown }).prepareStackTrace
    else Error.prepareStackTrace = before
  }
}

it("the place of a definition is the caller's caller, within the working folder or anywhere [P1709]", () => {
  const own = ["definedAt (file:///lib/Defined.ts:1:2)", "make (file:///lib/Tool.ts:3:4)"]
  const node = { cwd: () => "/home/me" }
  const cases: ReadonlyArray<readonly [object, string, string]> = [
    [node, "file:///home/me/src/desk.ts:31:20", "src/desk.ts:31:20"],
    [node, "main (file:///home/me/src/desk.ts:31:20)", "src/desk.ts:31:20"],
    [node, "Object.<anonymous> (/home/me/desk.ts:31:20)", "desk.ts:31:20"],
    [node, "async main (file:///home/me/my%20desk.ts:31:20)", "my desk.ts:31:20"],
    [node, "/home/men/desk.ts:31:20", "/home/men/desk.ts:31:20"],
    [node, "file:///home/men/desk.ts:31:20", "/home/men/desk.ts:31:20"],
    // a browser with a part of `process`
    [{}, "main (https://example.org/desk.js:31:20)", "https://example.org/desk.js:31:20"]
  ]
  for (const [platform, frame, expected] of cases)
    assert.deepStrictEqual(found(platform, ...own, frame, "start (/other.ts:1:1)"), { definedAt: expected })
  // frames of the engine have no place
  assert.deepStrictEqual(found(node, "new Promise (<anonymous>)", ...own, "/home/me/desk.ts:3:2"), {
    definedAt: "desk.ts:3:2"
  })
  assert.deepStrictEqual(found(node, ...own), {})
})
