/** What is read out of a page: its names. */
import type { Locator, Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"

type Role = Parameters<Page["getByRole"]>[0]

/** How many of a role there are, and how many of them have a name. */
export const counted = async (page: Page, role: Role): Promise<{ readonly all: number; readonly named: number }> => ({
  all: await page.getByRole(role).count(),
  named: await withName(page, role).count()
})

const withName = (page: Page, role: Role): Locator => page.getByRole(role, { name: /\S/ })

/** The roles of what can have the focus; anything else that can would be nameless. */
const roles: ReadonlyArray<Role> = ["button", "searchbox", "tab", "tabpanel", "region", "row"]

/** Each element that can have the focus has a name. */
export const named = async (page: Page, report: Report, name: string): Promise<void> => {
  const focusable = page
    .locator("a[href], button, input, select, textarea, summary, [contenteditable], [tabindex]")
    .filter({ visible: true })
  const all = await focusable.count()
  const labelled = roles.map((role) => withName(page, role)).reduce((some, other) => some.or(other))
  const grids = await counted(page, "treegrid")
  report.check(`the page of ${name}: its outline is a tree grid with a name`, grids.all === 1 && grids.named === 1)
  const ofThem = await focusable.and(labelled).count()
  report.check(
    `the page of ${name}: all ${all} that can have the focus have a name`,
    all > 5 && ofThem === all,
    `${all - ofThem} have none`
  )
}
