namespace FastPort.Dashboard.Security;

/// <summary>Metadata of the routes that a browser needs before it has the token: the login page and its files.</summary>
internal sealed class LoginRoute
{
    public static LoginRoute Instance { get; } = new();
}
