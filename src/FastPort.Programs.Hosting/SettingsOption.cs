using System.CommandLine;

namespace FastPort.Programs.Hosting;

/// <summary>The option <c>--config</c> of the programs with a server.</summary>
internal static class SettingsOption
{
    public static Option<string?> Create() => new("--config")
    {
        Description =
            "Configuration file to read instead of the appsettings.json beside the program. Environment variables override it too.",
        HelpName = "FILE",
    };
}
