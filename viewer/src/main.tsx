import { render } from 'preact';
import './ui/theme.css';
import './ui/base.css';
import './ui/parts.css';
import './frame/frame.css';
import { App, followTheme } from './app';
import { openPage } from './frame/opening';
import { followAddress, namesTab } from './state/url';

const chooseTab = !namesTab(location.hash);
followAddress();
followTheme();
const place = document.getElementById('app');
if (place !== null) render(<App opening={openPage(chooseTab)} />, place);
