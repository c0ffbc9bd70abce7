/** A failed run on a phone. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { drawn, redrawn } from "../pictures/drawn.ts"

export const sheet = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  const check = (what: string, isRight: boolean, said?: string) => report.check(`on a phone: ${what}`, isRight, said)
  const inspector = page.locator(".inspector")
  check("the inspector is away at first", !(await inspector.isVisible()))
  check("the list has no bars", (await page.locator(".outline .bars").filter({ visible: true }).count()) === 0)
  const row = page.locator(".outline .rows [role=row]").filter({ hasText: "turn 2" }).first()
  await row.scrollIntoViewIfNeeded()
  await redrawn(page)
  await row.click()
  check("a row opens it as a sheet", (await inspector.isVisible()) && (await inspector.innerText()).includes("turn 2"))
  await inspector.getByRole("button", { name: "Close" }).click()
  check("which closes", !(await inspector.isVisible()))
  const narrow = await page
    .locator("button")
    .filter({ visible: true })
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).filter(({ height }) => height < 24).length)
  check("every button can be hit", narrow === 0, String(narrow))
}
