// A page that stays open while its node is killed and started again.

import { joint, killed } from './joint.mjs';

await joint({ kept });

async function kept(visit) {
  const { page } = visit;
  await visit.go('#/collections');
  await page.getByLabel('Name').fill('Kept');
  await page.getByRole('button', { name: 'Begin', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await killed(visit);
  await visit.go('#/collections');
  await page.getByRole('link', { name: 'Kept' }).waitFor();
}
