/** The parts of a page without a script. */
import { describe, expect, it } from "vitest"
import { drawings, headCell, heading, lead, page, paragraph, table } from "../../../packages/view/src/page/StillPage.ts"

describe("a page without a script [P1214]", () => {
  it("has its title twice, and allows styles alone [P1214]", () => {
    const made = page("<a>", "<p>body</p>")
    const lines = made.split("\n")
    expect(lines.filter((line) => !line.startsWith("<style>"))).toEqual([
      "<!doctype html>",
      '<html lang="en">',
      "<head>",
      '<meta charset="utf-8">',
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">",
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="color-scheme" content="light dark">',
      "<title>&lt;a&gt;</title>",
      "</head>",
      "<body>",
      "<main><h1>&lt;a&gt;</h1>",
      "<p>body</p>",
      "</main>",
      "</body>",
      "</html>",
      ""
    ])
    // headings, wide drawings and tables that scroll, numbers at the right, and either drawing by the width
    for (const rule of [
      "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}",
      ".drawing{overflow-x:auto}.drawing svg{max-width:none}.narrow{display:none}",
      ".scroll{overflow-x:auto}",
      "td.number,th.number{text-align:right}",
      "@media screen and (max-width:640px){.wide{display:none}.narrow{display:block}"
    ])
      expect(lines[8]).toContain(rule)
    expect(lines[8]).toMatch(
      /^<style>:root\{color-scheme:light dark;--paper:#fbf9f4;.*prefers-color-scheme:dark.*<\/style>$/
    )
  })

  it("has texts as text, and each kind as its element [P1214]", () => {
    expect([paragraph("<a>"), lead("<a>"), heading("<a>")]).toEqual([
      "<p>&lt;a&gt;</p>",
      '<p class="lead">&lt;a&gt;</p>',
      "<h2>&lt;a&gt;</h2>"
    ])
  })

  it("has a drawing for narrow screens beside the wide one, with names of their own [P1233]", () => {
    expect(drawings("<a k-title k-desc/>", "<b k-title k-desc k-title/>")).toBe(
      '<div class="drawing wide" tabindex="0" role="region" aria-label="Drawing"><a k-title k-desc/></div><div class="drawing narrow"><b k-title-narrow k-desc-narrow k-title-narrow/></div>'
    )
  })
})

describe("a table [P1233]", () => {
  it("has a header for each row and each named column, and numbers of their own class [P1233]", () => {
    expect(
      table(
        "<c>",
        [{ heading: "" }, { heading: "n<", isNumber: true }, { heading: "t", isNumber: false }],
        [
          ["<a>", "1", { text: "<x>", href: 'a"b' }],
          [{ text: "l", href: "h" }, "", "", "more"]
        ]
      )
    ).toBe(
      [
        '<div class="scroll" tabindex="0" role="region" aria-label="&lt;c&gt;"><table><caption>&lt;c&gt;</caption>',
        '<thead><tr><td></td><th scope="col" class="number">n&lt;</th><th scope="col">t</th></tr></thead><tbody>',
        '<tr><th scope="row">&lt;a&gt;</th><td class="number" data-name="n&lt;">1</td><td data-name="t"><a href="a&quot;b">&lt;x&gt;</a></td></tr>\n',
        '<tr><th scope="row"><a href="h">l</a></th><td class="number" data-name="n&lt;"></td><td data-name="t"></td><td data-name="">more</td></tr>',
        "</tbody></table></div>"
      ].join("")
    )
    expect(headCell("h")).toBe('<th scope="col">h</th>')
  })
})
