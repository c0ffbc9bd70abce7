/** The threat model names tests and options: that they are there, and that the defaults are those of the sources. */
import { posix } from "node:path"
import { assert, describe, it } from "vitest"
import { namesOf } from "../../scripts/exports.ts"
import { pathsIn, read } from "../../scripts/files.ts"
import { modules } from "../../scripts/modules.ts"

const { text } = read("SECURITY.md")

/** The rows below a head, each without the marks of code in its cells. */
const rowsAfter = (page: string, head: RegExp): ReadonlyArray<ReadonlyArray<string>> =>
  page
    .split("\n\n")
    .filter((block) => head.test(block))
    .flatMap((block) => block.split("\n").slice(2))
    .map((row) => row.split("|").map((cell) => cell.trim()))

const bare = (cell: string | undefined = ""): string => cell.replaceAll("`", "")

/** The doc comments above an option, in the file that declares its type, or above the function that takes it. */
const commentsOf = (owner: string, option: string): ReadonlyArray<string> => {
  const [module = "", name = ""] = owner.split(".")
  const found = modules
    .filter(({ title }) => posix.basename(title) === module)
    .flatMap(({ path }) => namesOf(path))
    .find((exported) => exported.name === name && !exported.isInternal)
  if (found === undefined) return []
  const declared = new RegExp(
    `/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*(?:readonly ${option}\\??:|export const ${name} = \\(\\{ ${option}\\b)`,
    "g"
  )
  return [...read(found.from).text.matchAll(declared)].map(([, comment = ""]) =>
    comment.replaceAll(/\s*\n\s*\* ?/g, " ")
  )
}

describe("SECURITY.md", () => {
  const tests = new Set(["test", "tools"].flatMap((folder) => pathsIn(folder, (path) => path.endsWith(".test.ts"))))

  it("names a test for each promise, and each one is there", () => {
    const promises = rowsAfter(text, /^\| promise \| shown by \|/)
    assert.isAbove(promises.length, 30)
    const wrong = promises.filter(([, , shown = ""]) => {
      const paths = shown.split(", ").map(bare)
      return !paths.every((path) => tests.has(path))
    })
    assert.deepStrictEqual(wrong, [])
    const named = [...text.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path = ""]) => path)
    assert.deepStrictEqual(
      named.filter((path) => !tests.has(path)),
      []
    )
  })

  it("names options that are public, with the defaults of their comments", () => {
    const rows = rowsAfter(text, /^\| what is bounded \| option \|/)
    assert.isAbove(rows.length, 15)
    const flags = read("packages/view/src/cli/bounds.ts").text
    const wrong = rows.filter(([, , option, owner, otherwise = ""]) => {
      if (bare(owner) === "kintsugi") {
        return !flags.includes(`mebibytes("${bare(option).slice(2)}", ${otherwise.replace(" MiB", "")},`)
      }
      const said = otherwise.replace("those of ", "")
      return !commentsOf(bare(owner), bare(option)).some((comment) => comment.includes(said))
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("names nothing of the API that is not public", () => {
    const published = new Map(modules.map(({ path, title }) => [posix.basename(title), path]))
    const named = [...text.matchAll(/`([A-Z]\w+)\.(\w+)`/g)].map(([, module = "", name = ""]) => ({ module, name }))
    assert.isAbove(named.length, 20)
    const unknown = named.filter(({ module, name }) => {
      const path = published.get(module)
      return path === undefined || !namesOf(path).some((one) => one.name === name && !one.isInternal)
    })
    assert.deepStrictEqual(unknown, [])
  })
})
