using System.Text;
using Microsoft.AspNetCore.Http;

namespace FastPort.Dashboard.Pages;

/// <summary>A file of the page, embedded in this assembly. Immutable.</summary>
internal sealed class PageResource(string contentType, byte[] bytes)
{
    /// <summary>Reads an embedded file.</summary>
    /// <param name="name">Its name in the assembly.</param>
    /// <param name="contentType">How browsers read it.</param>
    /// <param name="replace">Texts in it to replace. Defaults to none.</param>
    public static PageResource Read(string name, string contentType, params (string Old, string New)[] replace)
    {
        using Stream stream = typeof(PageResource).Assembly.GetManifestResourceStream(name)
            ?? throw new InvalidOperationException($"The dashboard lacks its file {name}; it was built without it.");
        using var reader = new StreamReader(stream, Encoding.UTF8);
        string text = reader.ReadToEnd();
        foreach ((string old, string other) in replace)
        {
            text = text.Replace(old, other, StringComparison.Ordinal);
        }

        return new PageResource(contentType, Encoding.UTF8.GetBytes(text));
    }

    public Task WriteAsync(HttpContext context)
    {
        context.Response.ContentType = contentType;
        context.Response.ContentLength = bytes.Length;
        return context.Response.Body.WriteAsync(bytes, 0, bytes.Length, context.RequestAborted);
    }
}
