using System.CommandLine;

namespace FastPort.Client.Commands;

/// <summary>The option <c>--token-file</c>: other users of the machine could see a token on the command line.</summary>
internal static class TokenFileOption
{
    /// <summary>Creates the option.</summary>
    public static Option<string> Create() => new("--token-file")
    {
        Description = "File with the token for the server: a JSON Web Token, or Basic and the Base64 of user:password. "
            + "Read on each connection attempt.",
        HelpName = "FILE",
    };
}
