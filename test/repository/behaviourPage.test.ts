import { describe, expect, it } from "vitest"
import { type File, filesIn, read } from "../../scripts/files.ts"
import { idsInSource, idsOfTitle, isId, leadingIds } from "../../scripts/ruleIds.ts"

/** Ids of the list items and rows of a page: `- **A101** one line`, and `| **L101** | one line |`. */
const idsInPage = ({ text }: File): ReadonlyArray<string> =>
  [...text.matchAll(/^(?:-|\|) \*\*(\w+)\*\* \S/gm)].map(([, rule = ""]) => rule).filter(isId)

const compare = (listed: ReadonlyArray<string>, tested: ReadonlyArray<string>) => ({
  "tested but not listed": [...new Set(tested)].filter((rule) => !listed.includes(rule)).toSorted(),
  "listed but not tested": listed.filter((rule) => !tested.includes(rule)),
  "listed twice": listed.filter((rule, index) => listed.indexOf(rule) !== index)
})

const same = {
  "tested but not listed": [],
  "listed but not tested": [],
  "listed twice": []
}

describe("docs/behaviour.md", () => {
  it("lists exactly the rules that end the title of a test, and docs/laws.md the laws", () => {
    const isTest = (path: string) => /\.(test|test-d|spec)\.ts$/.test(path)
    const tested = ["test", "tools", "packages"]
      .flatMap((folder) => filesIn(folder, isTest))
      .flatMap(({ text }) => idsInSource(text))
    const pages = ["docs/behaviour.md", "docs/laws.md"].map(read)
    expect(compare(pages.flatMap(idsInPage), tested)).toEqual(same)
  })
})

describe("the titles of tests", () => {
  it("begin with words, not with ids", () => {
    const tests = ["test", "tools"].flatMap((folder) => filesIn(folder, (path) => /\.(test|test-d)\.ts$/.test(path)))
    expect(tests.flatMap(({ path, text }) => leadingIds(text).map((first) => `${path}: ${first}`))).toEqual([])
    expect(leadingIds('it("#1 waits", f)\nlaw(\n  "#2: holds", f)'.replaceAll("#", "A"))).toEqual(["A1", "A2"])
  })
})

describe("the ids of a source", () => {
  // Planted titles say "#" for the group, so that this file names no rule.
  const ids = (text: string) => idsInSource(text.replaceAll("#", "A"))

  it("are single ids, several, and ranges, at the end of titles", () => {
    expect(ids('it.effect("waits [#202]", () => {})')).toEqual(["A202"])
    expect(ids("it.run('waits [#301 #302 T7]', f)")).toEqual(["A301", "A302", "T7"])
    expect(ids("it.each(rows)(`waits for %s [#801-#803]`, f)")).toEqual(["A801", "A802", "A803"])
    expect(ids('both(\n  "a long " +\n    "title [#1-#2 K5]",\n  f)')).toEqual(["A1", "A2", "K5"])
  })

  it("are not in the middle of a title, in other brackets or in other text", () => {
    expect(ids('it("waits as [#202] says", f)')).toEqual([])
    expect(ids("// [#202]\nconst rules = [A203]")).toEqual([])
    expect(ids('it("waits [#1]" + " and ends", f)')).toEqual([])
    expect(ids('it("waits [X12]", f)\nit("waits [#1, #2]", f)')).toEqual([])
  })
})

describe("the ids of a title", () => {
  it("are its last brackets, before what a runner adds in parentheses", () => {
    expect(idsOfTitle("suite > waits [A202 A204-A205]")).toEqual(["A202", "A204", "A205"])
    expect(idsOfTitle("waits [L101] (streamed)")).toEqual(["L101"])
    expect(idsOfTitle("waits [L101] > and ends")).toEqual([])
    expect(idsOfTitle("#101 waits".replace("#", "L"))).toEqual([])
  })
})

describe("the comparison", () => {
  it("reports what is missing, surplus and listed twice, by id", () => {
    const page = idsInPage({
      path: "page",
      text: "# A1\n\n- **A101** waits\n- **A102** ends\n- **A102** ends\n- A103 no\n"
    })
    expect(compare(page, ["A101", "A104"])).toEqual({
      "tested but not listed": ["A104"],
      "listed but not tested": ["A102", "A102"],
      "listed twice": ["A102"]
    })
    expect(compare(["A101"], ["A101", "A101"])).toEqual(same)
  })
})
