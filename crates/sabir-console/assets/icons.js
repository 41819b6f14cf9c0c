// Signs for the views, drawn with lines. They stand beside words and say nothing by themselves.

import { html } from './lib.js';

const PATHS = {
  inbox: 'M4 13l2.2-7.2A1 1 0 0 1 7.2 5h9.6a1 1 0 0 1 1 .8L20 13v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM4 13h4.5l1 2h5l1-2H20',
  tasks: 'M4 6.5l1.5 1.5L8.5 5M4 12.5l1.5 1.5 3-3M4 18.5l1.5 1.5 3-3M12 7h8M12 13h8M12 19h8',
  conversations: 'M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-7l-4.5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM8 9h8M8 12.5h5',
  collections: 'M5 4h4v16H5zM9 4h4v16H9zM13.5 5.2l3.7-1 3.6 15-3.8 1z',
  delegates: 'M12 4.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM5.5 14.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM18.5 14.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM10.8 9.3l-4 5.4M13.2 9.3l4 5.4M8 17h8',
  policy: 'M12 3.5l7 2.5v5.5c0 4.2-2.8 7.4-7 9-4.2-1.6-7-4.8-7-9V6zM9 12l2.2 2.2L15.2 10',
  journal: 'M7 4h11a1 1 0 0 1 1 1v15H7a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM5 18a2 2 0 0 1 2-2h12M9 8h6M9 11.5h6',
  usage: 'M4 20h16M6.5 20v-6M11 20V9M15.5 20v-8.5M20 20V5',
  copy: 'M9 9h10a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H10a1 1 0 0 1-1-1zM15 9V5a1 1 0 0 0-1-1H5a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h4',
  check: 'M5 12.5l4.5 4.5L19 7',
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false"><path d=${PATHS[name] ?? ''} /></svg>`;
}
