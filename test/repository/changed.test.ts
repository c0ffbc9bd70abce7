/** Which tests `npm run test:quick` takes. */
import { describe, expect, it } from "vitest"
import { baseOf, choose } from "../../scripts/changed.ts"

const tested = [
  "test/core",
  "test/core/tool",
  "test/core/agent/composition",
  "test/laws",
  "test/repository",
  "test/examples",
  "tools/eval/test"
]
const foldersFor = (...paths: ReadonlyArray<string>) =>
  choose(paths, (folder) => tested.some((one) => one === folder || one.startsWith(`${folder}/`)))

describe("the folders for what changed", () => {
  it.each([
    ["packages/core/src/tool/Tool.ts", "test/core/tool"],
    ["packages/core/src/index.ts", "test/core"],
    ["packages/core/src/data/Usage.ts", "test/core"],
    ["packages/core/src/agent/composition/parts.ts", "test/core/agent/composition"],
    ["packages/examples/src/demo/main.ts", "test/examples"],
    ["packages/examples/recipes/rpc/server.ts", "test/examples"],
    ["packages/core/package.json", "test/repository"],
    ["test/core/tool/gates.test.ts", "test/core/tool"],
    ["test/core/tool/_support/deep/read.ts", "test/core/tool"],
    ["test/core/run/old.test.ts", "test/core"],
    ["tools/eval/src/play.ts", "tools/eval/test"],
    ["tools/eval/test/page.test.ts", "tools/eval/test"],
    ["scripts/api.ts", "test/repository"],
    ["docs/guide/recovery.md", "test/repository"],
    ["package.json", "test/repository"]
  ])("of %s are %s", (path, folder) => {
    expect(foldersFor(path)).toEqual({ folders: [folder], untested: [], processes: [] })
  })

  it.each([
    ["packages/view/src/Svg.ts"],
    ["test/types/Agent.test-d.ts"],
    ["test/_support/run.ts"],
    ["tools/soak/src/heap.ts"]
  ])("of %s are none: its types are checked", (path) => {
    expect(foldersFor(path)).toEqual({ folders: [], untested: [path], processes: [] })
  })

  it("are named once, and not within each other", () => {
    const { folders } = foldersFor(
      "test/laws/time.test.ts",
      "packages/core/src/tool/Tool.ts",
      "test/core/tool/gates.test.ts",
      "packages/core/src/index.ts"
    )
    expect(folders).toEqual(["test/core", "test/laws"])
  })

  it("are not those of tests that start processes, which are named", () => {
    const path = "test/examples/demo.process.test.ts"
    expect(foldersFor(path)).toEqual({ folders: [], untested: [], processes: [path] })
  })
})

describe("the commit that changes are counted from", () => {
  const checkout = { branch: "work", isDirty: true, hasMain: true, hasOriginMain: true }

  it("is main on a branch, and where none is checked out", () => {
    expect(baseOf(checkout)).toBe("main")
    expect(baseOf({ ...checkout, branch: undefined })).toBe("main")
    expect(baseOf({ ...checkout, hasMain: false })).toBe("origin/main")
    expect(baseOf({ ...checkout, hasMain: false, hasOriginMain: false })).toBe("HEAD~1")
  })

  it("on main is the last one, where something is not committed", () => {
    expect(baseOf({ ...checkout, branch: "main" })).toBe("HEAD")
  })

  it("on main with nothing changed is what others have, or the one before", () => {
    expect(baseOf({ ...checkout, branch: "main", isDirty: false })).toBe("origin/main")
    expect(baseOf({ ...checkout, branch: "main", isDirty: false, hasOriginMain: false })).toBe("HEAD~1")
  })
})
