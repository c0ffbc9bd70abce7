/** The HTML of the page of `kintsugi serve`, around its style and its script. */
import { expect, it } from "vitest"
import { shell } from "../../../packages/view/src/serve/shell.ts"

it("the page of a playground has its style and its script within it, and says what it needs", () => {
  const [, style = ""] = /<style>([^]*?)<\/style>/.exec(shell) ?? []
  const [, script = ""] = /<script>([^]*)<\/script>/.exec(shell) ?? []
  expect(style).toContain("main{display:grid;")
  expect(script).toContain("/changes")
  expect(
    shell
      .replace(style, "")
      .replace(script, () => "")
      .split("\n")
  ).toEqual([
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<link rel="icon" href="data:,">',
    "<title>kintsugi serve</title>",
    "<style></style>",
    "</head>",
    "<body>",
    '<main id="serve"><h1>kintsugi serve</h1><p>This page needs scripts.</p></main>',
    "<script></script>",
    "</body>",
    "</html>",
    ""
  ])
})
