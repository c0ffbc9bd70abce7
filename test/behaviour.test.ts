import { describe, expect, it } from "vitest"
import { type File, filesIn, read } from "../scripts/files.ts"

const id = /[ATKCPL]\d{1,4}/.source

/** Ids that begin the title of a test, the first argument of a call; a range stands for all that it spans. */
const idsInTitles = ({ text }: File): ReadonlyArray<string> => {
  const opening = new RegExp(`[\\w)\\]]\\(\\s*["'\`]((?:${id}(?:\\s*[-–]\\s*[ATKCPL]?\\d{1,4})?[\\s,:/+&]*)+)`, "g")
  return [...text.matchAll(opening)].flatMap(([, titles = ""]) => idsIn(titles))
}

const idsIn = (titles: string): ReadonlyArray<string> =>
  [...titles.matchAll(/([ATKCPL])(\d{1,4})(?:\s*[-–]\s*[ATKCPL]?(\d{1,4}))?/g)].flatMap(([, group, first, last]) => {
    const from = Number(first)
    const to = Number(last ?? first)
    return Array.from({ length: to - from + 1 }, (_, index) => `${group}${from + index}`)
  })

/** Ids of the list items of the page: `- **A101** one line`. */
const idsInPage = ({ text }: File): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^- \\*\\*(${id})\\*\\* \\S`, "gm"))].map(([, rule]) => rule ?? "")

const compare = (listed: ReadonlyArray<string>, tested: ReadonlyArray<string>) => ({
  "tested but not in docs/behaviour.md": [...new Set(tested)].filter((rule) => !listed.includes(rule)).toSorted(),
  "in docs/behaviour.md but not tested": listed.filter((rule) => !tested.includes(rule)),
  "listed twice": listed.filter((rule, index) => listed.indexOf(rule) !== index)
})

const same = {
  "tested but not in docs/behaviour.md": [],
  "in docs/behaviour.md but not tested": [],
  "listed twice": []
}

describe("docs/behaviour.md", () => {
  it("lists exactly the rules that begin the title of a test", () => {
    const isTest = (path: string) => /\.(test|test-d|spec)\.ts$/.test(path)
    const tested = [...filesIn("test", isTest), ...filesIn("packages", isTest)].flatMap(idsInTitles)
    expect(compare(idsInPage(read("docs/behaviour.md")), tested)).toEqual(same)
  })
})

describe("the comparison", () => {
  // Planted titles say "#" for the group, so that this file names no rule.
  const ids = (text: string) => idsInTitles({ path: "a.test.ts", text: text.replaceAll("#", "A") })

  it("reads single ids, several, and ranges", () => {
    expect(ids('it.effect("#202 waits", () => {})')).toEqual(["A202"])
    expect(ids("it.run('#301 #302, T7: waits', f)")).toEqual(["A301", "A302", "T7"])
    expect(ids("it.each(rows)(`#801-#803 waits`, f)")).toEqual(["A801", "A802", "A803"])
    expect(ids('both(\n  "#1–#2 K5 holds", f)')).toEqual(["A1", "A2", "K5"])
  })

  it("reads no id from the middle of a title or from other text", () => {
    expect(ids('it("waits as #202 says", f)')).toEqual([])
    expect(ids("// #202\nconst rule = '#203 waits'")).toEqual([])
    expect(ids('it("X12 waits", f)')).toEqual([])
  })

  it("reports what is missing, surplus and listed twice, by id", () => {
    const page = idsInPage({
      path: "page",
      text: "# A1\n\n- **A101** waits\n- **A102** ends\n- **A102** ends\n- A103 no\n"
    })
    expect(compare(page, ["A101", "A104"])).toEqual({
      "tested but not in docs/behaviour.md": ["A104"],
      "in docs/behaviour.md but not tested": ["A102", "A102"],
      "listed twice": ["A102"]
    })
    expect(compare(["A101"], ["A101", "A101"])).toEqual(same)
  })
})
