/** Texts of a run that would like to be more than text. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { drawn } from "./drawn.ts"

export const harmless = async (page: Page, report: Report, nth: number): Promise<void> => {
  await drawn(page)
  await page.locator(".conversation[data-filled]").waitFor({ state: "attached" })
  await page.keyboard.press("2")
  await page.keyboard.press("1")
  await page.locator('.outline [role=row][tabindex="0"]').press("ArrowDown")
  const said = await page.evaluate(() => {
    const elements = [...document.querySelectorAll("*")]
    return JSON.stringify([
      Object(globalThis).hacked,
      document.scripts.length,
      document.querySelectorAll("img, iframe, object, style").length,
      elements.some((one) => [...one.attributes].some(({ name }) => name.startsWith("on")))
    ])
  })
  report.check(`hostile text ${nth} does nothing`, said === "[null,2,1,false]", said)
}

/** A long text of a run stays readable: the page cuts it off, and shows all of it on demand. */
export const unfolded = async (page: Page, report: Report): Promise<void> => {
  await page.keyboard.press("2")
  const unfold = page.locator(".entry .unfold").first()
  await unfold.scrollIntoViewIfNeeded()
  const text = () => unfold.evaluate((own) => own.previousElementSibling?.textContent?.length ?? 0)
  const height = () => unfold.evaluate((own) => own.previousElementSibling?.clientHeight ?? 0)
  const before = await height()
  await unfold.click()
  const after = await height()
  const expanded = await unfold.getAttribute("aria-expanded")
  const length = await text()
  report.check(
    "a long text is cut off, and unfolds",
    before > 0 && after > 2 * before && length === 5000 && expanded === "true",
    `${before} ${after} ${length} ${expanded}`
  )
}
