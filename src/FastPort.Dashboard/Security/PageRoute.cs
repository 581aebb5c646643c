namespace FastPort.Dashboard.Security;

/// <summary>Metadata of the pages: a browser without the token gets the login page instead.</summary>
internal sealed class PageRoute
{
    public static PageRoute Instance { get; } = new();
}
