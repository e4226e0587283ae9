startTheme();
startLanguage();
startDefinitions();
startExports();
startExplorer();
