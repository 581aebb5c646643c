using FastPort.Site.Checks;
using FastPort.Site.Preparing;

// Called by eng/site and eng/checks/site.
switch (args)
{
    case ["prepare", var repository, var target]:
        Pages.Prepare(Path.GetFullPath(repository), Path.GetFullPath(target));
        return 0;
    case ["check", var site]:
        return await SiteCheck.RunAsync(Path.GetFullPath(site), pictures: null);
    case ["check", var site, var pictures]:
        return await SiteCheck.RunAsync(Path.GetFullPath(site), Directory.CreateDirectory(pictures).FullName);
    default:
        Console.Error.WriteLine("usage: prepare REPOSITORY TARGET | check SITE [PICTURES]");
        return 2;
}
