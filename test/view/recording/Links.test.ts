/** The addresses to which a report leads, and the templates that it takes. */
import { describe, expect, it } from "vitest"
import { docsUrl, editorOf, editorUrl, isWeb, traceUrl } from "../../../packages/view/src/recording/Links.ts"

describe("a link of a report", () => {
  it("to a trace has the run and its times in whole milliseconds [P1706]", () => {
    const run = { runId: "a b/c", from: 10.7, to: 20.2 }
    expect(traceUrl({ trace: "https://t.example/{runId}?{from}-{to}&{other}" }, run)).toBe(
      "https://t.example/a%20b%2Fc?10-21&{other}"
    )
    expect(traceUrl({ trace: "{runId}" }, { ...run, runId: "\ud800" })).toBe("%EF%BF%BD")
    expect(traceUrl({}, run)).toBeUndefined()
  })

  it("to the documentation fills the template, or is below it [P1706]", () => {
    expect(docsUrl({ docs: "https://d.example/{page}?v={page}" }, "errors#$&")).toBe(
      "https://d.example/errors#$&?v=errors#$&"
    )
    expect(docsUrl({ docs: "https://d.example/v1/" }, "guide")).toBe("https://d.example/v1/guide")
    expect(docsUrl({ docs: "https://d.example" }, "guide")).toBe("https://d.example/guide")
    expect([docsUrl({}, "guide"), docsUrl({ docs: "https://d.example" }, undefined)]).toEqual([undefined, undefined])
  })

  it("to an editor needs a file with its line and column [P1709]", () => {
    const links = { editor: "x://{file}|{line}|{column}|{other}", folder: "/home" }
    expect(editorUrl(links, "/a/b.ts:31:20")).toBe("x:///a/b.ts|31|20|{other}")
    expect(editorUrl(links, "b.ts:3:2")).toBe("x:///home/b.ts|3|2|{other}")
    expect(editorUrl({ editor: "x://{file}" }, "b.ts:3:2")).toBe("x:///b.ts")
    for (const text of [undefined, "", "b.ts", "b.ts:3", ":3:2", "b.ts:3:2 ", "b.ts:x:2", "b.ts:3:y"])
      expect(editorUrl(links, text)).toBeUndefined()
    expect(editorUrl({ folder: "/home" }, "/a/b.ts:31:20")).toBeUndefined()
  })

  it("to an editor escapes what would end the path, and nothing of the path [P1709]", () => {
    const links = { editor: "x://{file}" }
    expect(editorUrl(links, "/a?b#c&d e.ts:1:1")).toBe("x:///a%3Fb%23c%26d%20e.ts")
    expect(editorUrl(links, "/\ud800.ts:1:1")).toBe("x:///%EF%BF%BD.ts")
    // only a letter before a colon is a drive
    expect(editorUrl({ ...links, folder: "/home" }, "ab:c.ts:1:1")).toBe("x:///home/ab:c.ts")
    expect(editorUrl(links, String.raw`/a\b.ts:1:1`)).toBe("x:///a%5Cb.ts")
  })
})

describe("a template of an editor [P1709]", () => {
  it("is that of a name [P1709]", () => {
    expect(["vscode", "cursor", "idea"].map(editorOf)).toEqual([
      "vscode://file{file}:{line}:{column}",
      "cursor://file{file}:{line}:{column}",
      "idea://open?file={file}&line={line}&column={column}"
    ])
    expect([editorOf("emacs"), editorOf("constructor")]).toEqual([undefined, undefined])
  })

  it("is an address with a file, and no script [P1709]", () => {
    for (const good of ["zed://file/{file}", "X-y.z+1://{file}", "http://localhost/{file}"])
      expect(editorOf(good)).toBe(good)
    for (const bad of [
      "zed://file",
      "zed:{file}",
      "zed://{file} x",
      " zed://{file}",
      "1zed://{file}",
      "javascript://{file}",
      "JavaScript://{file}",
      "data://{file}",
      "vbscript://{file}",
      "blob://{file}"
    ])
      expect(editorOf(bad)).toBeUndefined()
  })
})

it("only an address of the web is one [P1706]", () => {
  const addresses = [
    "https://a",
    "http://a",
    "HTTP://a/b",
    "ftp://a",
    "https:///a",
    "https:// a",
    "https://",
    " https://a",
    "xhttps://a"
  ]
  expect(addresses.map(isWeb)).toEqual([true, true, true, false, false, false, false, false, false])
})
