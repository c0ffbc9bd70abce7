/** What a reader does on the site. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { anchors } from "../../../../scripts/site/anchors.ts"
import { moved } from "../../../../scripts/site/pages.ts"
import type { Browser } from "../browser.ts"

/** The address of a page below the site. */
const addressOf = (page: Page): string => {
  const { hash, pathname } = new URL(page.url())
  return pathname + hash
}

export const reader = async (visit: Browser, report: Report, url: string): Promise<void> => {
  await visit({ what: "by search", url: `${url}/`, width: 1440 }, async (page) => {
    await page.getByRole("button", { name: "Search" }).click()
    await page.getByRole("searchbox").fill("retry flaky tool")
    await page.getByRole("option").first().click()
    await page.waitForURL(/\/guide\//)
    report.check("the search finds a page", addressOf(page).startsWith("/guide/retry-a-flaky-tool"), addressOf(page))
  })
  await visit({ what: "by copy", url: `${url}/guide/getting-started`, width: 1440 }, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    const code = page.locator("div[class*=language-]").first()
    await code.hover()
    await code.getByRole("button", { name: "Copy Code" }).click()
    await code.locator("button.copied").waitFor()
    const [copied, shown] = [
      await page.evaluate(() => navigator.clipboard.readText()),
      await code.locator("code").innerText()
    ]
    report.check("a button copies the code beside it", copied.trim() !== "" && copied.trim() === shown.trim(), copied)
  })
  await visit({ what: "by the switch", url: `${url}/`, width: 1440 }, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await paper()
    await page.getByRole("switch").click()
    await page.locator("html.dark").waitFor()
    const dark = await paper()
    report.check("the switch changes the theme", light !== dark, `${light} ${dark}`)
    await page.reload()
    report.check("which lasts", (await paper()) === dark, await paper())
  })
  await visit({ what: "by the menu", url: `${url}/guide/agents`, width: 1440 }, async (page) => {
    await page.getByRole("navigation", { name: "Main Navigation" }).getByRole("button", { name: "next" }).hover()
    const entries = page.getByRole("banner").getByRole("link", { name: /^(?:next|0\.1)\b/ })
    await entries.first().waitFor()
    const said = await entries.allInnerTexts()
    report.check(
      "the menu has 0.1 and next",
      ["next", "0.1"].every((version) => said.some((text) => text.startsWith(version))),
      said.join()
    )
    await entries.filter({ hasText: "0.1" }).click()
    await page.waitForURL(`${url}/versions`)
    report.check("where 0.1 leads to what holds from it on", addressOf(page) === "/versions", addressOf(page))
  })
  const old = ["guide/agents#input", "guide/recovery#one-word"].map((from) => [from, anchors.get(from)])
  for (const [from, target] of [["performance#parts", `${moved["performance"]}#parts`], ...old])
    await visit({ what: `by ${from}`, url: `${url}/${from}` }, async (page) => {
      await page.waitForURL(`${url}/${target}`)
      report.check(`the old address ${from} leads to ${target}`, addressOf(page) === `/${target}`, addressOf(page))
    })
}
