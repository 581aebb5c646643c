namespace FastPort.Dashboard.Security;

/// <summary>Metadata of what a browser needs before it has the token: the login page and what it is made of.</summary>
internal sealed class LoginRoute
{
    public static LoginRoute Instance { get; } = new();
}
