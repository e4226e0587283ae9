startTheme();
startLanguage();
startDefinitions();
startExplorer();
