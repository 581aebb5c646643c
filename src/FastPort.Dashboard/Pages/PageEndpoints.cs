using FastPort.Dashboard.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard.Pages;

/// <summary>The page and what it is made of.</summary>
internal sealed class PageEndpoints : IDashboardEndpoints
{
    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapRead("/", PageResources.Index.WriteAsync).WithMetadata(PageRoute.Instance);
        foreach ((string path, PageResource file) in PageResources.Guarded)
        {
            routes.MapRead(path, file.WriteAsync);
        }

        foreach ((string path, PageResource file) in PageResources.Common)
        {
            routes.MapRead(path, file.WriteAsync).WithMetadata(LoginRoute.Instance);
        }
    }
}
